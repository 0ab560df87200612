"""Concepts: words of Arabic and of English that say the same, so that texts can be compared.

An entry has English words, an equals sign, and Arabic words; a word may be in several entries.
Words of one entry count as the same only where two texts are looked at for what they are about:
values, negation and names decide, and these are compared by themselves.
"""

# ruff: noqa: RUF001 - the words of Arabic are what this table is made of

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from evidentia.language.arabic.words import folded, is_arabic, roots, stems, tokens
from evidentia.language.words import stem, words

_TABLE: Final = """
employee employees staff worker workers personnel workforce = موظف موظفة موظفون عامل عاملة
عاملون عمال منتسب مستخدم; employer company firm business enterprise = شركة منشأة مؤسسة مقاولة;
organisation organization body authority = منظمة هيئة جهة سلطة; manager supervisor head director
line = مدير مديرة مشرف رئيس رئيسة; member members = عضو أعضاء منتسب; customer customers client
clients = عميل عملاء زبون زبائن حريف; user users subscriber subscribers = مستخدم مشترك مشتركون
مستعمل; owner owners landlord = مالك مالكة مؤجر صاحب; tenant tenants lessee = مستأجر مستأجرون;
buyer purchaser = مشتري مشترٍ; seller vendor supplier = بائع مورد; contractor operator = مقاول
مشغل متعهد; driver drivers = سائق سائقون; passenger passengers traveller = راكب ركاب مسافر
مسافرون; visitor visitors guest guests = زائر زوار ضيف ضيوف نزيل نزلاء; patient patients = مريض
مرضى مريضة; doctor physician = طبيب طبيبة أطباء; nurse = ممرض ممرضة; pharmacist pharmacy = صيدلي
صيدلية; dentist dental tooth teeth = أسنان سن; student students pupil pupils = طالب طالبة طلبة
طلاب تلميذ تلميذة تلاميذ تلامذة متعلم; teacher teachers = معلم معلمة أستاذ مدرس; parent parents
family families = أهل أسرة أسر والد والدين ولي عائلة عائلي ذوو; child children kid kids minor =
طفل أطفال قاصر ولد أولاد; adult adults = بالغ بالغون راشد; person people individual individuals
= شخص أشخاص فرد أفراد ناس; woman women female = امرأة نساء أنثى; man men male = رجل رجال ذكر;
volunteer volunteers = متطوع متطوعون تطوع; engineer engineers = مهندس مهندسون; technician
technicians = فني فنيون; inspector inspectors inspection inspect inspected check checked
examination = مفتش تفتيش فحص يفحص معاينة كشف; citizen citizens national resident residents =
مواطن مواطنون مقيم مقيمون ساكن سكان; applicant applicants candidate = مترشح متقدم مرشح طالب;
policyholder insured insurer insurance insure insures cover covered covers coverage = مؤمن تأمين
يؤمن تغطية يغطي تغطي مغطى; witness = شاهد; police = شرطة; fire = حريق إطفاء; accident accidents
collision crash incident = حادث حوادث اصطدام تصادم واقعة; theft stolen steal = سرقة مسروق سرق;
damage damaged harm loss losses lost lose = ضرر أضرار تلف تلفيات خسارة فقدان مفقود ضياع ضائع;
injury injuries injured = إصابة إصابات مصاب; death died die = وفاة توفي متوفى; illness sickness
sick ill disease = مرض مرضي مرضية مريض داء; treatment treat therapy medication medicine drug =
علاج يعالج دواء أدوية تداوي; dose doses dosage tablet tablets pill = جرعة جرعات قرص أقراص حبة;
pregnancy pregnant = حمل حامل; symptom symptoms effect effects side = أعراض عرض أثر آثار;
operation surgery procedure = عملية عمليات جراحة إجراء; hospital clinic = مستشفى مشفى عيادة;
emergency emergencies urgent = طارئ طوارئ عاجل طارئة; allergy allergic = حساسية; leave vacation
holiday holidays = إجازة إجازات عطلة عطل; absence absent = غياب غائب تغيب; annual yearly = سنوي
سنوية سنويا; monthly = شهري شهرية شهريا; weekly = أسبوعي أسبوعية أسبوعيا; daily = يومي يومية
يوميا; salary wage wages pay payroll remuneration = راتب رواتب أجر أجور أجرة مرتب; allowance
supplement bonus = بدل علاوة مكافأة حافز; pay pays paid payment payments payable settle settled
= دفع يدفع سداد يسدد مدفوع مدفوعة دفعة صرف يصرف يتقاضى تسديد قبض; receive receives received get
gets obtain obtains earn earns entitled entitlement = يستحق استحقاق يحصل حصول ينال نال يتقاضى
يتلقى تسلم يستلم استلام استفاد; give gives given grant granted provide provides provided supply
supplies offer offered = يمنح منح ممنوح يعطي يوفر توفر توفير يقدم تقديم مقدم إعطاء; price prices
cost costs costing charge charged charges = سعر أسعار ثمن كلفة تكلفة تكاليف يكلف; fee fees = رسم
رسوم أتعاب معلوم; fine fines penalty penalties = غرامة غرامات مخالفة عقوبة جزاء جزاءات; discount
reduction reduced = خصم تخفيض حسم تنزيل خفض مخفض; deduct deducted deduction deductions = خصم
يخصم اقتطاع يقتطع حسم; deductible excess = تحمل; refund refunded reimbursement reimburse
reimbursed return returned returns = رد يرد استرداد يسترد إعادة يعاد تعاد إرجاع يرجع;
compensation compensate = تعويض يعوض; deposit deposits = وديعة إيداع يودع تأمين عربون ضمان;
guarantee guaranteed warranty = ضمان مضمون يضمن كفالة; loan finance financing credit = قرض تمويل
يمول ائتمان ائتمانية سلفة; instalment instalments installment = قسط أقساط; interest profit =
فائدة فوائد ربح أرباح; tax taxes vat = ضريبة ضرائب; invoice invoices bill bills = فاتورة فواتير;
receipt receipts = إيصال وصل; account accounts = حساب حسابات; balance = رصيد; bank = بنك مصرف;
card cards = بطاقة بطاقات; cash = نقد نقدا نقدي; transfer transfers transferred = تحويل يحول
نقل; withdraw withdrawal = سحب يسحب; amount amounts sum = مبلغ مبالغ مقدار قيمة; value worth =
قيمة; budget = ميزانية موازنة; revenue income = إيراد إيرادات دخل; expense expenses = نفقة نفقات
مصروف مصاريف; rent rental lease rents = إيجار أجرة تأجير كراء يؤجر; buy bought purchase
purchases = شراء يشتري اشترى مشتريات; sell sold sale sales selling = بيع يبيع مبيعات; premium
premiums = قسط أقساط; rate = معدل نسبة سعر; share shares stake = حصة نصيب سهم أسهم; contract
agreement contracts = عقد عقود اتفاق اتفاقية; policy policies = سياسة وثيقة; clause article
section = مادة بند فقرة; term terms condition conditions = شرط شروط; period duration term length
= مدة فترة مهلة; sign signed signature = توقيع يوقع موقع وقع; renew renewed renewal = تجديد يجدد
يتجدد; extend extended extension = تمديد يمدد تمتد إطالة; cancel cancelled cancellation cancels
terminate terminated termination end ends ended ending expire expires expired = إلغاء يلغى فسخ
يفسخ إنهاء ينهي انتهاء ينتهي نهاية تنتهي انقضاء; start starts started begin begins beginning
effect = بدء يبدأ تبدأ بداية مطلع ابتداء انطلاق سريان يسري; continue continues = استمر يستمر
استمرار مواصلة; stop stops stopped suspend suspended = توقف يوقف إيقاف وقف تعليق; notice notify
notification notified inform informed tell told = إشعار إخطار يخطر إبلاغ يبلغ يشعر إعلام تبليغ
بلاغ أخطر يخبر; report reported reports = تقرير تقارير إبلاغ بلاغ; request requests apply
applies application applications ask asked = طلب طلبات يطلب تقدم; approval approve approved
consent permission authorised = موافقة يوافق إذن اعتماد معتمد موافقا; reject rejected refuse
refused refusal = رفض يرفض مرفوض; accept accepted accepts = قبول يقبل مقبول; objection object
appeal complaint complaints = اعتراض تظلم شكوى شكاوى طعن; decision decide = قرار يقرر; document
documents paper papers = وثيقة وثائق مستند مستندات أوراق; certificate certificates = شهادة
شهادات; licence license permit permits = رخصة ترخيص تصريح إجازة; identity identification id
passport = هوية جواز; file record records register registered registration = ملف سجل تسجيل يسجل
مسجل; list table schedule = قائمة جدول; form = نموذج استمارة; letter message messages text email
mail post = رسالة رسائل بريد خطاب نصية; call phone telephone contact = اتصال يتصل هاتف مكالمة;
website site web online internet = موقع إلكتروني إنترنت ويب شبكة; app application = تطبيق;
password = سر سرية; data information = بيانات معلومات; key keys = مفتاح مفاتيح; version release
= إصدار نسخة; copy copies backup = نسخة نسخ; software program programme = برنامج برمجيات; device
devices machine equipment = جهاز أجهزة آلة معدات; network connection = شبكة اتصال; speed = سرعة;
download upload = تنزيل رفع; error errors fault faults failure = خطأ عطل أعطال خلل; button = زر;
screen display = شاشة; battery = بطارية; water = ماء مياه; electricity electric power energy =
كهرباء كهربائي طاقة; gas = غاز; oil = زيت نفط; fuel = وقود; heat temperature hot = حرارة ساخن
حار; cold cool = بارد تبريد; clean cleaning cleaned = تنظيف ينظف نظيف; wash washing = غسل غسيل
غسالة; filter = مصفاة مرشح; pump = مضخة; door doors gate = باب أبواب بوابة; window glass = نافذة
زجاج; floor storey = طابق دور; room rooms = غرفة غرف قاعة; house home housing residence dwelling
= بيت منزل سكن مسكن دار; building buildings property premises = مبنى بناية عقار عقارات عين;
office offices = مكتب مكاتب; branch branches = فرع فروع; warehouse store stores = مستودع مخزن
مخازن; shop market = متجر سوق محل دكان; kiosk kiosks stall = كشك أكشاك; factory plant = مصنع
محطة معمل; station = محطة; unit units = وحدة وحدات; school schools = مدرسة مدارس مدرسي;
university = جامعة جامعي; class grade = صف درجة مرتبة; lesson lessons course courses training
train trained = درس دروس دورة دورات تدريب يدرب; exam exams test tests = امتحان امتحانات اختبار;
scholarship = منحة; museum = متحف; library = مكتبة; theatre festival = مسرح مهرجان; park garden
parks = حديقة متنزه منتزه; street road roads = شارع طريق طرق; city town municipality = مدينة
بلدية; country state = دولة بلد; area region zone = منطقة مناطق إقليم; place location site =
مكان موقع محل; car cars vehicle vehicles = سيارة سيارات مركبة مركبات; bus buses = حافلة حافلات;
train trains rail metro = قطار قطارات مترو; plane flight airport = طائرة رحلة مطار مطارات; ship
boat port = سفينة سفن ميناء; trip travel journey = سفر سفرة رحلة تنقل; ticket tickets = تذكرة
تذاكر; seat seats = مقعد مقاعد; baggage luggage = أمتعة حقيبة; transport transportation = نقل
مواصلات; deliver delivery delivered shipping shipment send sent sends = تسليم يسلم توصيل إرسال
يرسل شحن; food meal meals lunch dinner = طعام غذاء وجبة وجبات أكل غداء عشاء; drink alcohol = شرب
كحول مشروب; smoke smoking smoker = تدخين مدخن يدخن; animal animals pet pets = حيوان حيوانات
أليف; tree trees = شجرة أشجار; waste rubbish garbage = نفايات قمامة مخلفات; safety safe security
= سلامة أمان أمن; risk danger hazard dangerous = خطر أخطار مخاطر خطير; protection protect
protective = حماية وقاية واقي يحمي; glove gloves = قفاز قفازات; helmet = خوذة; noise = ضوضاء
ضجيج; alarm = إنذار; warning warn = إنذار تحذير; maintenance repair repairs repaired service =
صيانة إصلاح إصلاحات تصليح; install installation = تركيب يركب; replace replaced replacement
exchange = استبدال يستبدل بديل تبديل; remove removal removed = إزالة يزيل; use used uses using =
استعمال يستعمل استخدام يستخدم; work works working job = عمل أعمال يعمل شغل; overtime extra
additional = إضافي إضافية زائد; shift shifts = وردية ورديات مناوبة وجبة; hour hours time = ساعة
وقت دوام; day days = يوم أيام; week weeks = أسبوع; month months = شهر أشهر; year years = سنة
عام; morning = صباح صباحا; evening = مساء; night = ليل ليلا ليلي; noon = ظهر; date dates = تاريخ
موعد مواعيد; deadline = مهلة أجل موعد; delay late delayed = تأخير تأخر متأخر يتأخر; early
earlier advance = مبكر مسبق مقدما; before prior = قبل سابق; after following = بعد تالي; during
while = أثناء خلال; first = أول أولى; last final = أخير آخر نهائي; new = جديد مستجد; old
previous former = قديم سابق; full complete whole entire total = كامل كله كاملا إجمالي مجموع كلي;
half = نصف; part partial = جزء جزئي; number count = عدد رقم; limit maximum cap capped ceiling =
حد سقف أقصى; minimum = أدنى; age aged = عمر سن; size area = حجم مساحة; weight weigh = وزن;
height = ارتفاع طول; distance = مسافة بعد; level = مستوى; quality = جودة; type kind = نوع;
colour color = لون; name = اسم; address = عنوان; language = لغة; high higher rise increase
increased raise raised = عالي ارتفاع يرتفع زيادة يزيد تزاد رفع يرفع مرتفع; low lower fall
decrease decreased = منخفض انخفاض ينخفض خفض تخفيض نقص; open opens opened opening = فتح يفتح
مفتوح افتتاح; close closed closes = إغلاق يغلق مغلق; enter entry admission enters = دخول يدخل;
leave exit leaves = خروج يخرج مغادرة يغادر; allow allowed permitted = سماح يسمح مسموح; carry
carried carryover transfer = ترحيل مرحل نقل; keep kept store stored storage retain retained =
حفظ يحفظ محفوظ تخزين احتفاظ يحتفظ; take taken takes = أخذ يأخذ تناول يتناول; put place = وضع
يوضع; wear worn = لبس يلبس ارتداء; touch = لمس يلمس; move moved = نقل انتقال ينتقل; change
changed changes amend amendment = تغيير يغير تعديل يعدل يتغير; add added = إضافة يضاف مضاف;
include includes included including = يشمل تشمل شامل يتضمن مشمول; exclude excluded exempt
exempted exemption = استثناء يستثنى إعفاء معفى يعفى; choose choice select option = اختيار يختار
خيار; need needs needed require requires required requirement = حاجة يحتاج يتطلب يلزم يشترط شرط;
bear bears = تحمل يتحمل; own owned ownership = ملك ملكية يملك يمتلك; operate operates operating
run runs = تشغيل يشغل; manage management administration = إدارة; supervise supervision = إشراف
إشرافي; ministry minister = وزارة وزير; government = حكومة; court judge = محكمة قضاء قاضي قضائي;
law legal = قانون قانوني نظام; right rights = حق حقوق; duty obligation obliged = واجب التزام
يلتزم; public general = عام عامة عمومي; private personal = خاص خاصة شخصي; free = مجاني مجانا;
paper written writing = مكتوب كتابة كتابي خطي; oral verbal = شفهي شفوي; permanent = دائم;
temporary trial probation probationary = مؤقت تجربة تجريبي اختبار; automatic automatically =
تلقائي تلقائيا آلي; manual = يدوي; local domestic = محلي داخلي; international foreign abroad =
دولي خارجي أجنبي خارج; internal inside = داخلي داخل; committee board council = لجنة مجلس;
meeting meetings = اجتماع اجتماعات; team group groups = فريق مجموعة مجموعات فئة; department unit
= إدارة قسم دائرة; project = مشروع; plan plans package = خطة باقة; award prize = جائزة;
experience = خبرة; resign resignation = استقالة يستقيل مستقيل; dismiss dismissed dismissal = فصل
يفصل مفصول; retire retirement retired pension = تقاعد متقاعد معاش; marriage marry married spouse
wife husband = زواج زوج زوجة يتزوج متزوج; birth born newborn = ولادة مولود; hajj pilgrimage =
حج; prayer = صلاة; ramadan = رمضان; eid = عيد; result results = نتيجة نتائج; measure measured
measurement = قياس يقيس; control controlled = سيطرة مراقبة تحكم; production produce = إنتاج
ينتج; manufacturer made maker = صانع مصنع مصنعة; import export = استيراد تصدير; stock inventory
= مخزون; order orders ordered = طلب طلبية أمر أوامر; offer quotation = عرض عروض; tender bid =
مناقصة عطاء; support help assistance = دعم مساعدة عون; visit visits = زيارة زيارات; reply
response respond answer = رد جواب إجابة يجيب; wait waiting = انتظار ينتظر; show present = إظهار
عرض يبرز تقديم; claim claims = مطالبة مطالبات; box carton pack = علبة عبوة صندوق; bottle = زجاجة
قارورة; service services = خدمة خدمات; subscription subscribe = اشتراك يشترك مشترك; centre
center = مركز; code codes symbol = رمز رموز كود; side party parties = طرف أطراف جانب; resource
resources = مورد موارد; human = بشري بشرية; repeat repeated repetition again = تكرار يتكرر متكرر
مكرر; immediately immediate once = فورا فوري حالا; basic base essential = أساس أساسي أساسية;
lock locked = قفل يقفل مقفل; uniform clothing clothes = زي ملابس ثياب; issue issued issues =
إصدار يصدر تصدر; calculate calculated counted = حساب يحسب تحسب يحتسب احتساب; appear appears
appearance = ظهور يظهر; arrival arrive arrives arrived reach = وصول يصل; piece pieces = قطعة
قطع; drain draining drainage = تصريف; interruption outage outages interrupted cut cuts = انقطاع
ينقطع قطع; benefit benefits advantage = منفعة ميزة استفادة يستفيد فائدة; available availability
= متاح متاحة توفر متوفر جاهزية; usual usually normal ordinary regular standard = معتاد عادي
عادية اعتيادي; attend attendance attended present presence = حضور يحضر; commercial trade = تجاري
تجارة; valid validity = صالح صلاحية ساري سارية; determine determined specify specified = تحديد
يحدد محدد; bed beds = سرير أسرة; national = وطني وطنية; tariff = تعريفة; sector = قطاع; line
lines = خط خطوط; secondary = ثانوي ثانوية; primary = ابتدائي; margin = هامش; fixed = ثابت ثابتة;
variable = متغير; announce announced announcement publish published = إعلان يعلن معلن نشر ينشر;
process operations = عملية عمليات; welcome receive = استقبال يستقبل; fast fasting = صيام صوم
صائم; electronic electronically digital = إلكتروني إلكترونية رقمي; platform portal = منصة بوابة;
father = أب والد; mother = أم والدة; brother sister sibling = أخ أخت; excuse justification = عذر
تبرير; reason cause causes caused = سبب أسباب يسبب; diabetes sugar = سكر سكري; liver = كبد;
kidney kidneys = كلى كلوي; stomach = معدة; pain = ألم; breathing breath = تنفس; difficulty hard
= صعوبة صعب; prefer preferred recommended recommend = يفضل مفضل ينصح مستحسن; affect affects
influence = تأثير يؤثر; driving drive = قيادة يقود; activity = نشاط; conditioning = تكييف; lift
lifts elevator = مصعد مصاعد; guard security = حراسة حارس; meter = عداد; consumption = استهلاك;
proof prove evidence = إثبات يثبت دليل; motor engine = محرك; press pressure = ضغط; wool = صوف;
cotton = قطن; powder detergent = مسحوق; hose pipe = خرطوم أنبوب ماسورة مواسير; tap = صنبور; plug
= قابس; cable wire = سلك كابل; leak = تسرب يتسرب; wall walls = حائط حوائط جدار; roof = سقف; tank
container = خزان حاوية; stock supplies = مخزون; average mean = متوسط معدل; summer = صيف; winter
= شتاء; spring = ربيع; foreigner foreigners = أجنبي أجانب; orphan orphans = يتيم أيتام; disabled
disability = إعاقة معاق; success succeed pass = نجاح ينجح; failure fail = فشل رسوب; bell = جرس;
celebration = احتفال; restaurant cafeteria = مطعم; device tablet = جهاز لوحي; server servers =
خادم خوادم; setting settings = إعداد إعدادات; marketing = تسويق; workshop workshops garage
garages = ورشة ورش; tour guide = جولة مرشد; collection objects = مقتنيات قطعة; photograph
photography pictures photo = تصوير صورة صور يصور; environment environmental = بيئة بيئي;
emission emissions = انبعاث انبعاثات; representative agent = ممثل وكيل; overhaul = عمرة;
combustion burn = احتراق حرق; river = نهر; sea = بحر; flood = فيضان; earthquake = زلزال; war =
حرب; self oneself = ذاتي بنفسه; tow towing = سحب قطر; tyre tire = إطار; windscreen glass = زجاج;
broken break = كسر مكسور; plate = لوحة; dealer agency = وكالة وكيل; brand = ماركة علامة;
endorsement appendix annex = ملحق; occupancy occupy = إشغال; debris rubble = أنقاض; furniture =
أثاث; plastic = بلاستيك; diploma degree = شهادة دبلوم مؤهل; ranking rank points = ترتيب نقاط;
dog dogs = كلب كلاب; cat cats = قطة قطط; problem problems = مشكلة مشاكل; solve solved = حل يحل;
good better = جيد أفضل; role = دور; desk = مكتب; alone single = وحيد وحده منفرد; preventive
prevention = وقائي وقاية; crown = تاج; enrolment enrol join joined = تسجيل انضمام ينضم التحاق;
due = مستحق استحقاق; draft = مسودة; currency = عملة; event events = حدث أحداث فعالية; page pages
= صفحة; token tokens = رمز; test sandbox = اختبار تجربة; limit quota = سقف حد; holder = صاحب
حامل; debt debts = دين ديون; grow growth = نمو; agriculture farm farms = زراعة مزرعة مزارع;
tourist tourism = سياحة سائح; hotel = فندق; medical health healthy = طبي طبية صحي صحة; maximum
highest largest longest = أقصى أعلى أكبر أطول; minimum lowest smallest shortest = أدنى أقل أصغر
أقصر; bridge = جسر; canal = قناة; candle candles = شمعة شموع; heater heaters heating = مدفأة
تدفئة سخان; lighting light lights lamp = إنارة إضاءة ضوء مصباح; season seasonal = موسم موسمي;
main principal chief = رئيسي رئيس رئيسية أساسي; entrance = مدخل مداخل; parking park = موقف
مواقف; stairs staircase = درج سلم; corridor gallery hall = ممر رواق قاعة صالة; expert experts
specialist = خبير خبراء مختص أخصائي; construction build built building = بناء إنشاء إنشائي يبنى;
load loads = حمل حمولة تحميل; field = حقل مجال; directorate = مديرية; household domestic = منزلي
أسرة; tanker tankers = صهريج صهاريج; collect collected collection = جمع يجمع تجميع تحصيل;
assembly gather meet = تجمع يتجمع اجتماع يلتقي; waiting queue = انتظار طابور; register registrar
= أمين مسجل; lost missing stray = تائه مفقود ضائع ضال; information enquiry enquiries = استعلامات
معلومات استفسار; search find found = بحث يبحث عثر يعثر; edit edited editing modify modified =
تعديل يعدل تحرير; delete deleted wipe wiped erase erased = حذف يحذف محو يمحى تمحى; create
created creating make = إنشاء ينشأ إعداد; item items object objects element elements = عنصر
عناصر غرض أغراض; attempt attempts try retry retried = محاولة محاولات يحاول; default = افتراضي
تلقائي; owner holder = صاحب مالك; event events = حدث أحداث; order sequence = ترتيب مرتب;
duplicate duplicates repeated = تكرار مكرر; valid expire expires expiry = صلاحية صالح يسري
تنتهي; encrypted encryption = تشفير مشفر; zone timezone = توقيت منطقة; header = ترويسة; field
fields = حقل حقول; draft drafts = مسودة; final finalised finalized = نهائي نهائيا اعتماد; void
voided = إبطال إلغاء; reach reached = بلوغ يبلغ; count counts counted count = يحتسب حساب عد;
disable disabled = تعطيل يعطل; enable enabled activate activated activation = تفعيل يفعل; prior
previous past last former = ماض ماضي سابق; next following coming = تالي قادم مقبل; priority =
أولوية; residential = سكني; commercial business = تجاري; square = مربع; depth deep = عمق عميق;
width wide = عرض عريض; diameter = قطر; length long = طول طويل; round circle = دائرة دائري; noise
decibels = ضوضاء ديسيبل; periodic periodically regular = دوري دورية; inspect inspected check
tested testing = فحص يفحص اختبار يختبر; bell alarm siren = جرس إنذار صفارة; transformer = محول
محولة; bearing = محمل; vibration vibrating = اهتزاز; turbine = عنفة توربين; chamber = غرفة;
fault breakdown = عطل خلل; shortage lack = نقص عجز; own self = نفسه ذاتي; employ employs
employed hire hired recruit recruitment = توظيف يوظف موظف تعيين يعين انتداب; part-time parttime
= جزئي; full-time fulltime = متفرغ; volunteer voluntary = متطوع تطوعي; shift = وردية مناوبة
نوبة; salary salaries paycheck = راتب رواتب; increment raise = علاوة زيادة; promotion promoted =
ترقية; evaluation appraisal assessment assess = تقييم تقدير يقيم; training trainer course =
تدريب تدريبي دورة; conference conferences = مؤتمر مؤتمرات; lecture = محاضرة; seminar workshop =
ندوة ورشة; gift gifts = هدية هدايا; media press = إعلام صحافة إعلامي; spokesman spokesperson =
متحدث; harassment = تحرش; anonymous = مجهول; grievance grievances = تظلم تظلمات; vote elect
elected election = انتخاب ينتخب تصويت; chair chairman president = رئيس; deputy vice = نائب;
secretary = سكرتير أمين; general = عام; executive = تنفيذي; financial finance = مالي مالية;
legal lawyer = قانوني محام محامي; engineer engineering = مهندس هندسة هندسي; architect = معماري;
consultant consulting = استشاري مستشار; auditor audit = مدقق مراجع تدقيق; accountant accounting
= محاسب محاسبة; cook kitchen chef = مطبخ طباخ طاه; waiter = نادل; cleaner = عامل نظافة; gardener
= بستاني; nursery kindergarten = حضانة روضة; grade grades mark marks = درجة درجات علامة;
graduate graduation = خريج تخرج; degree bachelor = بكالوريوس إجازة; master = ماجستير ماستر;
doctorate phd = دكتوراه; thesis = رسالة أطروحة; laboratory lab = مختبر معمل; research = بحث
أبحاث; book books = كتاب كتب; borrow borrowed loan = إعارة استعارة يستعير معار; exhibit
exhibition display = معرض عرض معروضات; statue sculpture = تمثال; painting = لوحة; camera filming
film = كاميرا تصوير فيلم; flash = فلاش وميض; tripod = حامل; drone = طائرة مسيرة; music concert =
موسيقى حفلة; sport sports gym = رياضة رياضي نادي; swim swimming pool = سباحة مسبح; ball football
= كرة; game games = لعبة ألعاب; toilet bathroom = حمام دورة; bed bedroom = سرير نوم; towel =
منشفة; breakfast = إفطار فطور; coffee cafe = قهوة مقهى; tea = شاي; bread = خبز; meat = لحم لحوم;
fish seafood = سمك أسماك; fruit = فاكهة; vegetables = خضار خضروات; milk = حليب; sugar = سكر;
salt = ملح; rice = أرز; egg eggs = بيض بيضة; freezer frozen freeze = تجميد مجمد; fridge
refrigerator = ثلاجة; oven = فرن; dish = طبق; bag bags = حقيبة كيس; suitcase = حقيبة; shoe shoes
= حذاء; shirt = قميص; vest jacket = سترة; glasses = نظارة; mask = كمامة قناع; ear ears = أذن;
eye eyes = عين عيون; hand hands = يد أيدي; foot feet leg = قدم ساق رجل; head = رأس; heart
cardiac cardiology = قلب; bone bones orthopaedic orthopedic orthopedics = عظم عظام; skin
dermatology = جلد جلدية بشرة; blood = دم; knee = ركبة; back = ظهر; nerve root = عصب; filling
fillings = حشوة; crown crowns = تاج تيجان; implant implants = زرع زراعة; orthodontics
orthodontic braces = تقويم; cosmetic cosmetics whitening = تجميل تجميلي تبييض; vaccine
vaccination = لقاح تطعيم; fever = حمى; cough = سعال; swelling = تورم; bleeding = نزيف; infection
= عدوى التهاب; tablet capsule = كبسولة قرص; injection = حقنة; prescription prescribed = وصفة
يوصف; overdose = زائدة; children paediatric = أطفال; elderly senior seniors = مسن مسنون كبار;
pregnant = حامل; breastfeeding = رضاعة مرضع; widow = أرملة; divorce divorced = طلاق مطلق;
guardian = ولي وصي; heir heirs inheritance = وارث ورثة ميراث; neighbour neighbours neighbor =
جار جيران; landlord = مؤجر; sublet sublease subtenant = باطن; mortgage = رهن; evict eviction =
إخلاء; demolish demolition = هدم; paint painting = دهان طلاء; wood wooden = خشب خشبي; metal
metals = معدن معادن; iron steel = حديد فولاذ; stone = حجر; sand = رمل; cement concrete = اسمنت
خرسانة; brick = طوب; fence = سور سياج; balcony = شرفة; basement = قبو; attic roof = سطح سقف;
garage = مرآب كراج; lawn grass = عشب; plant plants = نبات نباتات; seed seeds = بذور; fertiliser
fertilizer = سماد; pesticide = مبيد; irrigation = ري سقي; well = بئر; rain = مطر أمطار; wind =
ريح رياح; snow ice = ثلج جليد; storm = عاصفة; sun solar = شمس شمسي; moon = قمر; earth land =
أرض; mountain = جبل; island = جزيرة; coast beach = شاطئ ساحل; lake = بحيرة; desert = صحراء;
forest = غابة; fishing fisherman = صيد صياد; hunting = قنص; horse = حصان خيل; sheep = خروف
أغنام; cow cattle = بقرة أبقار; bird birds = طير طيور; poultry chicken = دجاج دواجن; bee bees
honey = نحل عسل; luggage = أمتعة; cabin = مقصورة; crew = طاقم; pilot captain = طيار قبطان;
runway = مدرج; boarding = صعود; departure depart departs departing = مغادرة إقلاع انطلاق يغادر
تغادر; arrival arriving = وصول; stop stops = محطة موقف; fare fares = أجرة تعرفة تعريفة; route
routes = مسار طريق خط; bicycle bike bikes = دراجة دراجات; truck lorry = شاحنة; taxi = أجرة; fuel
petrol gasoline diesel = بنزين وقود ديزل; brake brakes = فرامل مكابح; mirror mirrors = مرآة
مرايا; spare = غيار; tow = قطر سحب; garage mechanic = ورشة ميكانيكي; traffic = مرور; speeding =
سرعة; belt = حزام; accident = حادث; riot riots = شغب; race racing = سباق; weapon weapons = سلاح
أسلحة; prison jail = سجن; arrest = توقيف اعتقال; crime criminal = جريمة جنائي; fraud = احتيال
غش; secret confidential confidentiality = سر سري سرية; privacy = خصوصية; consent = موافقة;
breach violation violate = مخالفة خرق إخلال; dispute disputes = نزاع نزاعات منازعة; arbitration
= تحكيم; appeal = استئناف طعن; verdict ruling judgment = حكم; sentence = حكم جملة; regulator
regulatory regulation regulations = تنظيم هيئة لائحة; ordinance = لائحة; federal = اتحادي;
province governorate governorates = محافظة إقليم ولاية; mayor = عمدة رئيس; embassy = سفارة; visa
= تأشيرة; border = حدود; customs = جمارك جمركي; army military soldier = جيش عسكري جندي; tribe =
قبيلة; charity charities charitable = جمعية خيري خيرية; donation donations donate = تبرع تبرعات;
sponsor sponsorship = رعاية كفالة راع; mosque mosques = مسجد مساجد; church = كنيسة; festival =
مهرجان احتفال; wedding = زفاف عرس; gift = هدية; ceremony = حفل مراسم; flag = علم; language
translation translate = ترجمة لغة; interpreter = مترجم; draft = مسودة; archive archived = أرشيف
محفوظات; page = صفحة; chapter = فصل; title = عنوان لقب; photo = صورة; map = خريطة; drawing = رسم
مخطط; sample samples = عينة عينات; survey = استبيان مسح; statistics = إحصاء إحصائية; percentage
percent = نسبة; ratio = نسبة معدل; majority = أغلبية; quorum = نصاب; minority = أقلية; capital =
رأسمال عاصمة; dividend = أرباح توزيعات; bond bonds = سند سندات; investor investment invest =
استثمار مستثمر; profit = ربح; deficit = عجز; debt = دين; bankruptcy = إفلاس; auction = مزاد;
brokerage broker = وسيط سمسرة; commission = عمولة; tip = إكرامية; coupon voucher = قسيمة; points
= نقاط; loyalty = ولاء; wallet = محفظة; cheque check = شيك; teller cashier = صراف أمين; atm =
صراف; branch = فرع; headquarters seat = مقر مركز; store = متجر; queue = طابور; tray = صينية درج;
button = زر; switch = مفتاح; remote = بعد; wireless wifi = لاسلكي; cable = كابل سلك; charger
charging charge = شاحن شحن; printer print = طابعة طباعة; paper = ورق; ink = حبر; keyboard =
لوحة; user = مستخدم; login = دخول تسجيل; account = حساب; database = قاعدة بيانات; query =
استعلام; request requests = طلب طلبات; response = رد استجابة; latency = تأخير; bandwidth = نطاق;
byte = بايت; cloud = سحابة سحابي; update updates = تحديث تحديثات; version = إصدار نسخة; bug =
خلل; log logs = سجل سجلات; monitor monitoring = مراقبة رصد; threshold = حد عتبة; peak = ذروة;
emergency = طارئ; evacuation evacuate = إخلاء; extinguisher = مطفأة; first-aid firstaid aid =
إسعاف إسعافات; ambulance = إسعاف; rescue = إنقاذ; toxic poison = سام سمي; chemical chemicals =
كيميائي مواد; acid = حمض; glove = قفاز; boots = حذاء; ladder = سلم; crane = رافعة; forklift =
رافعة; warehouse = مستودع; pallet = منصة; barcode = باركود; label labels = ملصق بطاقة; seal =
ختم; stamp stamped = ختم طابع; lid = غطاء; drawer = درج; shelf shelves = رف رفوف; wheel wheels =
عجلة; screw screws bolt bolts = برغي براغي مسمار; nut = صامولة; drum = حوض; valve = صمام; tap =
صنبور حنفية; nozzle = فوهة; compressor = ضاغط; fan = مروحة; thermostat = منظم; humidity moisture
= رطوبة; dust = غبار; smell odour = رائحة; colour = لون; red = أحمر حمراء; green = أخضر خضراء;
blue = أزرق زرقاء; yellow = أصفر صفراء صفر; white = أبيض بيضاء; black = أسود سوداء; north
northern = شمال شمالي; south southern = جنوب جنوبي; east eastern = شرق شرقي; west western = غرب
غربي; upper top = علوي أعلى; lower bottom = سفلي أسفل; front = أمامي أمام; rear = خلفي خلف; left
= يسار أيسر; right = يمين أيمن; inside = داخل; outside = خارج; near nearest close = قريب أقرب;
far = بعيد; straight = مستقيم; always = دائما; never = أبدا; often = غالبا; rarely = نادرا;
daily = يومي; accompany accompanied escort chaperone = مرافق مرافقة يرافق اصطحاب; describe
description = وصف يصف; identify identity = هوية تعريف; hand handed submit submitted submission =
تسليم تقديم يقدم رفع; throw thrown discard discarded = رمي يرمى ترمى; bring brings brought =
إحضار يحضر يصطحب جلب; stay stays stayed remain remains = بقاء يبقى يمكث مكوث إقامة; live lives =
يسكن سكن إقامة; sleep = نوم; eat = أكل تناول; walk = مشي; sit = جلوس; stand = وقوف; speak talk =
تحدث كلام; read reading = قراءة; write writes = كتابة يكتب; learn = تعلم; teach = تعليم; play =
لعب; win = فوز; compete competition = منافسة مسابقة; agree agreed agreement = اتفاق موافقة;
promise commit commitment commits = تعهد التزام يتعهد; warn = تحذير; punish = عقوبة; reward =
مكافأة; honour = تكريم; thank = شكر; apologise = اعتذار; sort classify classified = تصنيف فرز;
connect connected connection link = ربط وصل توصيل يوصل; separate = فصل منفصل; mix = خلط مزيج;
cover lid = غطاء; fill = تعبئة ملء; empty = فارغ تفريغ; lift lifting raise = رفع; drop = إسقاط;
push = دفع; pull = سحب; turn = إدارة; rotate = دوران; fit fitted = تركيب; adjust = ضبط تعديل;
calibrate calibration = معايرة; weigh = وزن; cut = قطع; tear = تمزق; repair = إصلاح; polish =
تلميع; dry = جاف تجفيف; wet = مبلل رطب; iron ironing = كي; sew = خياطة; pause paused = تعليق
إيقاف; resume = استئناف; postpone postponed delay = تأجيل تأخير; reopen reopened = إعادة فتح;
renew = تجديد; doubt = شك; error = خطأ
"""


def _listed() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    """Return the concepts of English stems, and those of folded Arabic words."""
    english: dict[str, set[str]] = {}
    arabic: dict[str, set[str]] = {}
    for entry in _TABLE.split(";"):
        names, forms = (side.split() for side in entry.split("="))
        for name in names:
            english.setdefault(stem(name), set()).add(f"={names[0]}")
        for word in forms:
            plain = folded(word)
            for form in {plain, plain.removesuffix("ه")}:
                arabic.setdefault(form, set()).add(f"={names[0]}")
    return (
        {name: frozenset(found) for name, found in english.items()},
        {name: frozenset(found) for name, found in arabic.items()},
    )


_ENGLISH, _ARABIC = _listed()
_TENSES: Final = frozenset("يتن")
_LEAST: Final = 3


@lru_cache(maxsize=65_536)
def arabic_keys(word: str) -> frozenset[str]:
    """Return by what a folded word is compared: its stems, its roots and its concepts."""
    forms = stems(word)
    tried = forms | {form[1:] for form in forms if form[0] in _TENSES and len(form) > _LEAST}
    found = frozenset[str]().union(*(_ARABIC.get(form, frozenset()) for form in tried))
    return forms | {f"√{root}" for root in roots(word)} | found


@lru_cache(maxsize=65_536)
def english_keys(word: str) -> frozenset[str]:
    """Return by what an English word is compared: its stem and its concepts."""
    name = stem(word)
    return frozenset({name}) | _ENGLISH.get(name, frozenset())


def in_other_language(text: str) -> str:
    """Return the words of the other language for what a text is about, to look for passages by.

    Words of an Arabic text are given in English, and those of any other in Arabic, in the forms
    that they have most often.
    """
    if is_arabic(text):
        keys = (arabic_keys(token.text) for token in tokens(text) if token.kind == "word")
        table = _IN_ENGLISH
    else:
        keys = (english_keys(word.text) for word in words(text))
        table = _IN_ARABIC
    wanted = frozenset[str]().union(*keys)
    return " ".join(dict.fromkeys(form for name in sorted(wanted) for form in table.get(name, ())))


def _by_concept(
    listed: dict[str, frozenset[str]],
    forms: Callable[[str], tuple[str, ...]] = lambda name: (name,),
) -> dict[str, tuple[str, ...]]:
    """Return the forms of the words that each concept is said by."""
    found: dict[str, tuple[str, ...]] = {}
    for name, concepts in listed.items():
        for concept in concepts:
            found[concept] = (*found.get(concept, ()), *forms(name))
    return found


def _frequent_forms(name: str) -> tuple[str, ...]:
    """Return a word alone, in its plurals, and with the particles that stand before it most."""
    plain = name.removesuffix("ه")
    plurals = (f"{plain}ات",) if name.endswith("ه") else (f"{name}ون", f"{name}ين", f"{name}ات")
    return (name, *plurals, f"و{name}", f"ب{name}", f"ل{name}", f"لل{name}", f"{name}ا")


_IN_ENGLISH, _IN_ARABIC = _by_concept(_ENGLISH), _by_concept(_ARABIC, _frequent_forms)

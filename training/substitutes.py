"""Words that take each other's place in a sentence, by what the exchange does to its truth."""

from typing import Final


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Read "one/other" pairs, parted by commas."""
    found = [item.split("/") for item in _listed(text)]
    return tuple((one, other) for one, other in found)


def _both_ways(text: str) -> dict[str, str]:
    pairs = _pairs(text)
    return {other: one for one, other in reversed(pairs)} | dict(reversed(pairs))


def _listed(text: str) -> tuple[str, ...]:
    """Read what is parted by commas, over several lines."""
    return tuple(item.strip() for item in text.replace("\n", " ").split(",") if item.strip())


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _sets(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(word.strip() for word in line.split(","))
        for line in text.strip().splitlines()
        if line.strip()
    )


ANTONYMS: Final = _both_ways("""
accepted/rejected, accepts/rejects, accept/reject, bought/sold, buys/sells, won/lost, wins/loses,
northern/southern, eastern/western, north/south, east/west, northeast/southwest,
northwest/southeast, northeastern/southwestern, northwestern/southeastern,
included/excluded, includes/excludes, present/absent, male/female, males/females,
allowed/forbidden, permitted/prohibited, allows/forbids, allow/forbid, permits/prohibits,
approved/rejected, approves/rejects, opened/closed, opens/closes, successful/unsuccessful,
successfully/unsuccessfully, legal/illegal, legally/illegally, valid/invalid, eligible/ineligible,
possible/impossible, mandatory/optional, compulsory/voluntary, public/private, rich/poor,
wealthy/impoverished, strong/weak, strongly/weakly, early/late, hot/cold, warm/cool, wet/dry,
fast/slow, quickly/slowly, rapidly/gradually, heavy/light, happy/unhappy, safe/unsafe, healthy/ill,
positive/negative, positively/negatively, favorable/unfavorable, favourable/unfavourable,
popular/unpopular, rural/urban, indoor/outdoor, indoors/outdoors, inside/outside,
internal/external, interior/exterior, domestic/foreign, maximum/minimum, majority/minority,
ancient/modern, alive/dead, living/deceased, guilty/innocent, married/unmarried,
employed/unemployed, temporary/permanent, temporarily/permanently, visible/invisible,
similar/dissimilar, equal/unequal, regular/irregular, common/uncommon, frequent/infrequent,
frequently/rarely, often/seldom, usually/rarely, always/never, complete/incomplete,
finished/unfinished, known/unknown, sober/drunk, asleep/awake, tall/short, thick/thin, wide/narrow,
deep/shallow, full/empty, clean/dirty, loud/quiet, easy/difficult, easily/hardly, simple/complex,
cheap/expensive, friendly/hostile, brave/cowardly, honest/dishonest, polite/rude, loyal/disloyal,
beautiful/ugly, bright/dim, sharp/blunt, smooth/rough, soft/hard, large/small,
huge/tiny, young/elderly, good/bad, acclaimed/panned, praised/criticized, praised/criticised,
loved/hated, loves/hates, likes/dislikes, liked/disliked, remembered/forgot, arrived/departed,
arrives/departs, entered/exited, enters/exits, joined/left, hired/fired, hires/fires,
appointed/dismissed, attacked/defended, attacks/defends, agreed/disagreed, agrees/disagrees,
supported/opposed, supports/opposes, succeeded/failed, succeeds/fails, survived/perished,
survives/perishes, built/demolished, constructed/demolished, created/destroyed,
creates/destroys, connected/disconnected, connects/separates, united/divided, gained/lost,
gains/loses, borrowed/lent, lends/borrows, teaches/learns, taught/learned, encouraged/discouraged,
encourages/discourages, appeared/disappeared, appears/disappears,
confirmed/denied, confirms/denies, admitted/denied, admits/denies,
started/ended, begins/ends, began/ended, starts/ends, launched/discontinued,
activated/deactivated, enabled/disabled, enables/disables,
voluntarily/involuntarily, directly/indirectly, officially/unofficially, formally/informally,
active/inactive, conscious/unconscious, available/unavailable, armed/unarmed, official/unofficial,
direct/indirect, formal/informal, fertile/barren, vertical/horizontal, vertically/horizontally,
eastward/westward, northward/southward, upstream/downstream, upstairs/downstairs,
upper/lower, forward/backward, standing/sitting, laughing/crying, smiling/frowning,
pushing/pulling, running/sleeping, winning/losing, opening/closing, buying/selling,
landlocked/coastal, conservative/liberal, amateur/professional, civilian/military,
fictional/real, offline/online, analog/digital, nocturnal/diurnal, edible/inedible,
soluble/insoluble,
renewable/non-renewable, profitable/unprofitable, sufficient/insufficient, adequate/inadequate,
accurate/inaccurate, correct/incorrect, true/false, reliable/unreliable, stable/unstable,
familiar/unfamiliar, important/unimportant, relevant/irrelevant, necessary/unnecessary
""")
"""Opposites of the same form; either rules the other out of the same thing."""

NOT_AFTER: Final = frozenset(
    _words("well best so as too very more less most least to about long also")
)
"""Words after which an opposite says something else: "well known", "too late", "to present"."""

COMPARATIVES: Final = _both_ways("""
higher/lower, highest/lowest, larger/smaller, largest/smallest, bigger/smaller, biggest/smallest,
older/younger, oldest/youngest, longer/shorter, longest/shortest, taller/shorter, tallest/shortest,
faster/slower, fastest/slowest, stronger/weaker, strongest/weakest, better/worse, best/worst,
richer/poorer, richest/poorest, greater/smaller, greatest/smallest, hotter/colder, hottest/coldest,
warmer/cooler, warmest/coolest, heavier/lighter, heaviest/lightest, earlier/later, earliest/latest,
closer/farther, closest/farthest, nearest/farthest, deeper/shallower, deepest/shallowest,
wider/narrower, widest/narrowest, cheaper/costlier, cheapest/costliest, easier/harder,
before/after, above/below, increased/decreased, increases/decreases, increasing/decreasing,
rose/fell, rises/falls, grew/shrank, grows/shrinks, improved/worsened,
improves/worsens, strengthened/weakened, accelerated/slowed, raised/lowered, raises/lowers,
preceded/followed, precedes/follows, predates/postdates, first/last, northernmost/southernmost,
easternmost/westernmost, wealthiest/poorest, brightest/dimmest, majority/minority,
ascending/descending, upward/downward, upwards/downwards,
outnumbered/trailed, senior/junior, superior/inferior
""")

SISTERS: Final = _sets("""
red, blue, green, yellow, purple, pink, brown, white, black
summer, winter, autumn
breakfast, lunch, dinner
monday, tuesday, wednesday, thursday, friday, saturday, sunday
elementary, secondary
baseball, basketball, soccer, tennis, golf, volleyball, cricket, rugby, hockey
film, novel, song, album, magazine, newspaper, opera, painting
man, woman
men, women
boy, girl
boys, girls
actor, actress
dog, cat, horse, cow, sheep, elephant, rabbit
dogs, cats, horses, cows, rabbits, elephants
mammal, reptile, fish, bird, insect, amphibian
mammals, reptiles, insects, amphibians
river, lake, mountain, desert, island
arm, leg, knee, shoulder, ankle, wrist, elbow, nose
wooden, plastic, metal, glass, concrete
car, bus, truck, bicycle, boat, airplane
guitarist, drummer, bassist, keyboardist, violinist
goalkeeper, defender, midfielder, striker
quarterback, linebacker, cornerback
pitcher, catcher, shortstop, outfielder
century, decade
daily, weekly, monthly, annually
son, daughter
sons, daughters
brother, sister
brothers, sisters
father, mother
husband, wife
uncle, aunt
nephew, niece
grandson, granddaughter
grandfather, grandmother
king, queen
prince, princess
duke, duchess
hexagon, triangle, square, circle
gold, silver, bronze
continent, ocean
democracy, monarchy
republic, monarchy
planet, star, moon
vegetable, fruit, grain
physics, chemistry, economics, medicine, literature
spring, autumn
morning, afternoon, evening
hospital, school, church, museum, prison, theatre
hospitals, schools, churches, museums, prisons
""")
"""Words of which one rules out the others, where they are said of the same thing."""

MONTHS: Final = _words("""
January February March April May June July August September October November December
""")
NUMBER_WORDS: Final = _words("""
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty
""")
"""The words for numbers, each in its number's place."""
ORDINALS: Final = _words("second third fourth fifth sixth seventh eighth ninth tenth")
UNITS: Final = {
    one: other
    for pair in _pairs("""
days/weeks, weeks/months, months/years, hours/minutes, minutes/seconds, km/miles, kilometers/miles,
meters/feet, million/billion, metres/feet, kilometres/miles, kg/lb, inches/metres, acres/hectares,
tons/pounds, dollars/euros, thousand/million, USD/EUR, years/decades, centuries/decades
""")
    for one, other in (pair, pair[::-1])
}
"""Another unit for each, whose like amount is another."""

JOBS: Final = frozenset(
    _words("""
actor actress singer writer author politician lawyer director producer novelist musician engineer
journalist artist poet painter composer comedian songwriter screenwriter model dancer entrepreneur
businessman philanthropist activist playwright rapper filmmaker philosopher mathematician physicist
historian guitarist drummer pianist voiceover editor
""")
)
NO_NAME: Final = frozenset(_words("The A An In On At It He She They This That These Those His Her"))
"""What begins a sentence with a capital and is no name."""
NATIONALITIES: Final = _words("""
American Canadian French German Italian Spanish Japanese Chinese Russian Indian Australian
Brazilian Mexican Swedish Norwegian Danish Dutch Polish Greek Turkish Korean Egyptian British
Nigerian Argentine Chilean Finnish Hungarian Portuguese
""")

COUNTRIES: Final = _words("""
France Germany Italy Spain Japan China Russia India Australia Brazil Mexico Sweden Norway
Denmark Poland Greece Turkey Egypt Canada Nigeria Argentina Chile Finland Hungary Portugal
Austria Belgium Switzerland Kenya Peru Colombia Thailand Vietnam Indonesia Iran Iraq Israel
Pakistan Ukraine Romania Bulgaria Croatia Serbia Ireland Scotland Wales Cuba Morocco
""")

SYNONYMS: Final = dict(
    _pairs("""
film/movie, movie/film, films/movies, movies/films, purchased/bought, bought/purchased,
purchase/buy, purchases/buys, began/started, begins/starts, located/situated, situated/located,
physician/doctor, attorney/lawyer, lawyer/attorney, automobile/car, automobiles/cars,
numerous/many, obtained/got, assisted/helped, assists/helps, approximately/roughly,
roughly/approximately, primarily/mainly, mainly/primarily, chiefly/mainly, frequently/often,
often/frequently, rarely/seldom, seldom/rarely, prior to/before, entire/whole, nearly/almost,
almost/nearly, quickly/rapidly, rapidly/quickly, huge/enormous, enormous/huge, television/TV,
photograph/photo, photographs/photos, photo/photograph, currently/at present, children/kids,
famous/well-known, well-known/famous, due to/because of, because of/due to, constructed/built,
concluded/ended, commenced/began, resided/lived, resides/lives, attempted/tried, attempts/tries,
demonstrated/showed, demonstrates/shows, utilized/used, utilizes/uses, utilised/used,
utilise/use, utilize/use, permits/allows, prohibited/forbidden, entirely/completely,
completely/entirely, worldwide/around the world, globally/worldwide, annually/every year,
yearly/annually, wealthy/rich, rich/wealthy, sofa/couch, physicians/doctors, attorneys/lawyers,
lawyers/attorneys, motion picture/film, purchasing/buying, assistance/help,
inhabitants/residents, infant/baby, infants/babies, incorrect/wrong, inexpensive/cheap,
costly/expensive, expensive/costly, intelligent/clever, weary/tired, shops/stores,
garbage/rubbish, vacation/holiday, biscuit/cookie, elevator/lift, gasoline/petrol,
petrol/gasoline, cellphone/mobile phone, movie theater/cinema, law enforcement/police,
deceased/dead, headquartered/based, renowned/famous, occurs/happens, occurred/happened,
happens/occurs, requested/asked for, assembled/put together, established/set up,
rejected/turned down, cancelled/called off, postponed/put off, investigated/looked into,
tolerated/put up with, rescued/saved, halted/stopped, feline/cat, canine/dog, hid/concealed,
concealed/hid, murdered/killed, slain/killed, error/mistake, errors/mistakes, mistake/error,
mistakes/errors, answered/replied, fortunate/lucky, lucky/fortunate, sufficient/enough,
totally/completely, nowadays/today, formerly/previously, despite/in spite of,
in spite of/despite, whilst/while, amongst/among, among/amongst, authored/wrote, penned/wrote,
depicts/shows, comprises/consists of, consists of/is made up of, is composed of/consists of,
is known as/is called, adolescent/teenager, adolescents/teenagers, teenager/adolescent,
sitting/seated, bike/bicycle, bicycle/bike, bicycles/bikes, bikes/bicycles, shouting/yelling,
yelling/shouting, guy/man, lady/woman, ladies/women, guys/men, mom/mother, dad/father,
kids/children, kid/child, child/kid, begun/started, ill-fated/doomed, buys/purchases,
built/constructed, cars/automobiles, doctor/physician, doctors/physicians, wrote/authored,
shows/depicts, photos/photographs, in the United States/in the US,
in the United Kingdom/in the UK, in the U.S./in the United States,
every year/annually, is located in/lies in, is situated in/lies in, died/passed away,
passed away/died, teenagers/adolescents, babies/infants, baby/infant, mothers/moms, assist/help,
attempt/try, as well as/and also, a number of/several, the majority of/most,
also known as/also called, alongside/together with, along with/together with,
in addition to/besides, toward/towards, towards/toward, afterwards/afterward,
amid/in the midst of, nearby/close by, glad/happy, afraid/scared, scared/afraid, rubbish/garbage,
trash/garbage, sea creatures/marine animals, unwell/sick, starts/begins,
strolling/walking slowly, big/large, tiny/very small, on a daily basis/every day,
in the course of/during, owing to/because of, rapidly growing/fast-growing
""")
)
"""What may be said instead of a word or words, in that direction, without a change of truth."""

VERBS: Final = _pairs("""
win/won, release/released, play/played, star/starred, appear/appeared, make/made, write/wrote,
direct/directed, produce/produced, receive/received, become/became, begin/began, move/moved,
serve/served, work/worked, live/lived, lead/led, found/founded, join/joined, leave/left,
return/returned, marry/married, graduate/graduated, attend/attended, study/studied,
retire/retired, earn/earned, score/scored, sign/signed, perform/performed, record/recorded,
publish/published, create/created, win/won, lose/lost, beat/beat, defeat/defeated, kill/killed,
take/took, give/gave, go/went, come/came, run/ran, open/opened, close/closed, reach/reached,
die/died, grow/grew, start/started, end/ended, replace/replaced, succeed/succeeded,
contain/contained, include/included, consist/consisted, feature/featured, cover/covered,
host/hosted, debut/debuted, premiere/premiered, air/aired, gross/grossed, sell/sold, buy/bought,
use/used, help/helped, design/designed, develop/developed, establish/established, hold/held,
own/owned, teach/taught, train/trained, represent/represented, compete/competed,
portray/portrayed, voice/voiced, finish/finished, support/supported, oppose/opposed,
require/required, provide/provided, allow/allowed, offer/offered, operate/operated,
belong/belonged, speak/spoke, visit/visited, travel/travelled, build/built, introduce/introduced,
invent/invented, discover/discovered, launch/launched, announce/announced, describe/described,
depict/depicted, follow/followed, tell/told, show/showed, win/won, fight/fought, refuse/refused,
agree/agreed, accept/accepted, reject/rejected, know/knew, want/wanted, need/needed, like/liked,
eat/ate, drink/drank, see/saw, hear/heard, think/thought, believe/believed, find/found, get/got,
pay/paid, break/broke, rise/rose, fall/fell, increase/increased, decrease/decreased
""")

SET_PHRASES: Final = _listed("""
above all, after all, all in all, appear in, appeared as, appeared in, appeared on, appears as,
appears in, appears on, as good as, at first, at hand, at large, at last, at present,
at short notice, at the latest, bad debt, before long, big bang, big data, black box,
black market, born and raised, bought out, bought up, built up, built upon,
by and large, child care, child labor, child labour, child support, cold war, cost of living,
day after day, deep learning, died down, died out, doctor of, dry run, early bird, earn a living,
earned a living, fast food, fast track, fell ill, fell in love, first aid, first name,
first of all, first person, for good, for the first time, gold standard, good faith, green light,
happens to, hard copy, hard disk, heavy metal, high school, hot dog, in cold blood, in good time,
in hot water, in large part, in light of, in short, in short supply, in the first place,
in the light of, in the long run, in the short run, last minute, last name, last resort,
left behind, left hand, left open, left out, left over, left side, left to, left wing, light bulb,
light rail, living in, living on, living room, living wage, living with, long run, loud and clear,
on the left, one after another, open air, over and above, present day, public holiday, raised in,
real estate, real name, real time, red tape, rich in, running back, running for, running mate,
running time, second nature, see above, see below, short notice, short of, short term, shows off,
shows up, silver screen, slow motion, small print, small talk, so far, soft drink, soft skills,
sooner or later, square root, standing committee, standing order, standing ovation, third parties,
third party, to the left, true to, white paper, wrote down, wrote off, year after year
""")
"""Phrases whose words do not stand for themselves: what changes one of them says nothing."""

"""Swaps written by hand: short passages, claims that differ from them in one point, and controls.

Under each passage stand its claims. `-` contradicts it in the point named, `?` says what it leaves
open, `=` says what it says in other words. A line that is indented goes on with the one before.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_LABELS: Final = {"-": "contradicted", "?": "not_found", "=": "supported"}


@dataclass(frozen=True, slots=True)
class Swap:
    """A claim beside its evidence: the point in which they differ, or how they agree."""

    evidence: str
    claim: str
    kind: str
    label: str


def _read(text: str) -> Iterator[Swap]:
    for block in text.strip().split("\n\n"):
        evidence, *claims = block.replace("\n  ", " ").split("\n")
        for line in claims:
            kind, _, claim = line[2:].partition(": ")
            yield Swap(evidence, claim, kind, _LABELS[line[0]])


_POLICIES: Final = """
Employees accrue 1.5 days of annual leave for every month worked.
  Leave that is not taken by 31 March of the following year lapses.
- number: Employees accrue 2.5 days of annual leave for every month worked.
- date: Untaken leave remains valid until 30 June of the following year.
- negation: Leave that is not taken by 31 March of the following year does not lapse.
= paraphrase: For each month of work, staff earn one and a half days of annual leave.

All visitors must sign the register at reception and wear a badge.
  Contractors who work on site for more than five days receive a key card from the facilities team.
- modality: Visitors may choose whether to sign the register at reception.
- quantifier: Only some visitors must sign the register at reception.
? role: The facilities team receives a key card from contractors who work on site for more than
  five days.
= dropped: Visitors have to wear a badge.
= voice: Contractors who are on site for over 5 days are given a key card by the facilities team.

The travel policy covers economy flights only.
  Hotel costs are reimbursed up to $180 per night, and receipts have to be submitted within 30 days
  of return.
- number: Hotel costs are reimbursed up to $280 per night.
- unit: Receipts have to be submitted within 30 weeks of return.
- quantifier: The travel policy covers flights in every class.
= format: Receipts must be handed in no later than thirty days after the return.
= paraphrase: Hotel costs of up to $180 a night are paid back.

Personal devices may be used for company e-mail if they are encrypted.
  Passwords must never be shared, and a lost device must be reported to the security desk within
  2 hours.
? modality: Personal devices must be used for company e-mail if they are encrypted.
- negation: Passwords can be shared.
- unit: A lost device must be reported to the security desk within 2 days.
= format: The loss of a device has to be reported to the security desk within 120 minutes.
= paraphrase: It is never allowed to share passwords.

Overtime is paid at 150 per cent of the hourly rate. Most departments close at noon on Fridays.
- number: Overtime is paid at 115 per cent of the hourly rate.
? quantifier: All departments close at noon on Fridays.
? date: Most departments close at noon on Thursdays.
= format: Overtime pay is one and a half times the hourly rate.

New hires are on probation for six months.
  During probation either side may end the employment with two weeks' notice; afterwards the notice
  period is longer.
- unit: New hires are on probation for six weeks.
- comparative: After probation the notice period is shorter.
- modality: During probation neither side is allowed to end the employment.
= format: The probation of new employees lasts half a year.
= format: While on probation, employees can leave with 14 days' notice.

Remote work from abroad is permitted for up to 20 days a year with the written approval of the line
  manager. Managers in Lisbon approve requests for the Porto office.
- antonym: Remote work from abroad is prohibited.
? role: Managers in Porto approve requests for the Lisbon office.
- negation: Remote work from abroad does not require written approval.
= dropped: With a line manager's written approval, staff may work remotely from abroad.
"""

_CONTRACTS: Final = """
This agreement takes effect on 1 July 2024 and runs for three years.
  The supplier shall deliver the goods to the buyer's warehouse in Rotterdam.
- date: This agreement takes effect on 1 June 2024.
- name: The goods are delivered to the buyer's warehouse in Antwerp.
- role: The buyer shall deliver the goods to the supplier's warehouse in Rotterdam.
= format: The agreement begins on 2024-07-01 and has a term of 36 months.
= voice: The goods shall be delivered by the supplier to the buyer's warehouse in Rotterdam.

The tenant pays the landlord a deposit of EUR 2,400 before moving in.
  The landlord must return the deposit within one month of the end of the lease.
- role: The landlord pays the tenant a deposit before the tenant moves in.
- antonym: The landlord must keep the deposit after the end of the lease.
- unit: The tenant pays a deposit of USD 2,400.
= voice: A deposit of 2400 euros is paid to the landlord by the tenant.
= paraphrase: The landlord has to give the deposit back within a month of the end of the lease.

Either party may terminate the contract by written notice of 90 days.
  Payment is due 14 days after receipt of the invoice, and interest of 4% is charged on late
  payments.
- number: Interest of 9% is charged on late payments.
- quantifier: Only one of the parties may terminate the contract by written notice.
- unit: Payment is due 14 weeks after receipt of the invoice.
= format: Invoices are due for payment two weeks after they are received.

Harrow Logistics acquired Bellmar Shipping from the Tolland Group in 2019.
  The purchase price was paid in cash.
- role: Bellmar Shipping acquired Harrow Logistics in 2019.
? name: Harrow Logistics acquired Pelham Shipping from the Tolland Group in 2019.
- date: Harrow Logistics acquired Bellmar Shipping in 2016.
= voice: Bellmar Shipping was bought by Harrow Logistics in 2019.

The licensee may not sublicense the software.
  The licensor shall indemnify the licensee against claims of third parties, except where the
  licensee has modified the software.
- negation: The licensee may sublicense the software.
? role: The licensee shall indemnify the licensor against claims of third parties.
- quantifier: The licensor shall indemnify the licensee against claims of third parties in every
  case.
= paraphrase: Sublicensing of the software by the licensee is not permitted.

The warranty period is 24 months from delivery.
  The warranty excludes damage caused by improper storage, and the seller's liability is limited to
  the purchase price.
- antonym: The warranty includes damage caused by improper storage.
- negation: The seller's liability is not limited.
- unit: The warranty period is 24 weeks from delivery.
= format: The goods are under warranty for two years from delivery.
= paraphrase: Damage caused by improper storage is not covered by the warranty.

The parties shall keep the terms confidential for five years after the agreement ends.
  Disputes are heard by the courts of Vienna; the agreement is governed by Austrian law.
- name: Disputes are heard by the courts of Zurich.
- antonym: The parties shall make the terms public after the agreement ends.
- comparative: The parties shall keep the terms confidential for less than five years after the
  agreement ends.
= paraphrase: The contract is subject to the law of Austria.

The contractor must insure the works for at least $5 million.
  The insurance must cover all subcontractors.
- quantifier: The contractor must insure the works for at most $5 million.
- modality: The contractor need not insure the works.
- number: The contractor must insure the works for at least $9 million.
= format: The works have to be insured by the contractor for no less than $5,000,000.
"""

_MANUALS: Final = """
Charge the battery for 3 hours before first use.
  The charging lamp turns green when the battery is full.
- unit: Charge the battery for 3 minutes before first use.
- antonym: The charging lamp turns green when the battery is empty.
- number: Charge the battery for 8 hours before first use.
= format: Before it is used for the first time, the battery has to be charged for 180 minutes.

The pump must not be run dry.
  Close the inlet valve before opening the housing, and keep the oil temperature below 80 °C.
- negation: The pump can be run dry.
- comparative: Close the inlet valve after opening the housing.
- unit: Keep the oil temperature below 80 °F.
- comparative: Keep the oil temperature above 80 °C.
= paraphrase: Never run the pump dry.

The router supports up to 64 devices on two bands.
  The 5 GHz band is faster than the 2.4 GHz band but has a shorter range.
- comparative: The 5 GHz band has a longer range than the 2.4 GHz band.
- role: The 2.4 GHz band is faster than the 5 GHz band.
- number: The router supports up to 46 devices.
= paraphrase: The 2.4 GHz band is slower than the 5 GHz band.
= voice: Up to 64 devices are supported by the router.

Hold the power button for ten seconds to reset the device.
  A reset deletes all saved settings but keeps the serial number.
- quantifier: A reset deletes only some of the saved settings.
- antonym: A reset keeps all saved settings.
- negation: A reset does not keep the serial number.
= paraphrase: To reset the device, press and hold the power button for 10 seconds.

The filter should be cleaned every two weeks and replaced once a year.
  Model K200 uses filter F3, and model K300 uses filter F5.
- role: Model K200 uses filter F5, and model K300 uses filter F3.
- modality: The filter need not be cleaned.
- unit: The filter should be cleaned every two months.
= format: Clean the filter every 14 days.

The washing machine weighs 68 kg and holds 8 kg of laundry. It can be installed under a worktop.
- unit: The washing machine weighs 68 lb.
? modality: The washing machine must be installed under a worktop.
- number: The washing machine holds 6 kg of laundry.
= paraphrase: The washing machine can be put in beneath a worktop.

Version 4.2 was released on 12 November 2023.
  It requires at least 16 GB of memory and no longer supports 32-bit processors.
- date: Version 4.2 was released on 12 December 2023.
- negation: Version 4.2 still supports 32-bit processors.
- quantifier: Version 4.2 requires at most 16 GB of memory.
= format: Version 4.2 came out on November 12, 2023.
= voice: 32-bit processors are no longer supported by version 4.2.

The new engine is quieter and lighter than the old one, and it can run on ethanol.
  The guarantee is void if the engine is opened by anyone other than an authorised workshop.
- comparative: The new engine is heavier than the old one.
- antonym: The guarantee is valid if the engine is opened by anyone other than an authorised
  workshop.
? modality: The new engine must run on ethanol.
= paraphrase: The old engine is heavier than the new one.
"""

_NEWS: Final = """
Mayor Ingrid Solberg opened the new tram line in Haldvik on Tuesday.
  The line is 7.4 kilometres long and cost 310 million kroner, less than planned.
- name: Mayor Astrid Lunde opened the new tram line in Haldvik.
- antonym: Mayor Ingrid Solberg closed the new tram line in Haldvik.
- comparative: The new tram line cost more than planned.
- unit: The new tram line is 7.4 miles long.
= voice: The new tram line in Haldvik was opened by Mayor Ingrid Solberg.
= format: The new tram line cost 310,000,000 kroner, which was less than planned.

Corvane United beat Stenfield 3-1 on Saturday.
  Striker Dani Okafor scored twice before he was replaced by Leo Marsh.
- role: Stenfield beat Corvane United on Saturday.
- role: Leo Marsh was replaced by Dani Okafor.
- name: Corvane United beat Millbrook 3-1 on Saturday.
- date: Corvane United beat Stenfield on Sunday.
= voice: Stenfield lost 3-1 to Corvane United on Saturday.

The central bank raised its key rate to 4.25 per cent in March.
  Inflation fell to 2.9 per cent, the lowest level in two years.
- antonym: The central bank lowered its key rate to 4.25 per cent in March.
- comparative: Inflation reached its highest level in two years.
- date: The central bank raised its key rate to 4.25 per cent in May.
- number: Inflation fell to 3.9 per cent.
= format: In March the key rate was raised to 4.25%.

Some of the 48 passengers were treated in hospital after the ferry ran aground near Kelso Bay on
  3 August 2022. Nobody was killed.
? quantifier: All of the 48 passengers were treated in hospital.
- negation: Passengers were killed when the ferry ran aground.
- number: The ferry had 84 passengers.
- date: The ferry ran aground on 3 April 2022.
= dropped: A ferry ran aground near Kelso Bay in August 2022.
= paraphrase: No one was killed when the ferry ran aground.

The court ruled in favour of the journalist Nadia Brandt, who had sued the publisher Oakline Media.
  The publisher said it might appeal.
- role: The publisher Oakline Media had sued the journalist Nadia Brandt.
? modality: The publisher said it would appeal.
- antonym: The court ruled against the journalist Nadia Brandt.
? name: The court ruled in favour of the journalist Carla Weiss.
= voice: The publisher Oakline Media had been sued by Nadia Brandt.

The director Yusuf Rahimi sold the film rights to Lantern Pictures for $1.2 million.
  Filming will begin in Tallinn in September 2025.
- role: Lantern Pictures sold the film rights to the director Yusuf Rahimi.
- name: Filming will begin in Riga in September 2025.
- date: Filming will begin in Tallinn in September 2026.
= format: Lantern Pictures bought the film rights from Yusuf Rahimi for 1,200,000 dollars.

The village of Orvane has 1,150 inhabitants and is older than the neighbouring town of Brask.
  Its northern half was destroyed by fire in 1874.
- comparative: The village of Orvane is younger than the neighbouring town of Brask.
? antonym: The southern half of Orvane was destroyed by fire in 1874.
- date: The northern half of Orvane was destroyed by fire in 1847.
- role: The town of Brask is older than the village of Orvane.
= format: Orvane is a village of 1150 people.

Few shops in the old harbour reopened after the flood.
  The council, led by Tomas Keller, approved a relief fund of 12 million euros.
- quantifier: Most shops in the old harbour reopened after the flood.
- antonym: The council rejected a relief fund of 12 million euros.
- unit: The council approved a relief fund of 12 billion euros.
- name: The council is led by Marta Lindner.
= format: A relief fund of €12,000,000 was approved by the council.

The union accepted the offer on 9 February after talks that lasted eleven days.
  The strike had begun earlier than expected.
- antonym: The union rejected the offer.
- date: The union accepted the offer on 19 February.
- comparative: The strike had begun later than expected.
= format: The talks went on for 11 days before the union accepted the offer.

Samuel Ortega succeeded Grace Lindqvist as chief executive of Fenwick Foods on 1 October 2020.
  Lindqvist remains on the board.
- role: Grace Lindqvist succeeded Samuel Ortega as chief executive of Fenwick Foods.
- name: Samuel Ortega succeeded Henrik Dahl as chief executive of Fenwick Foods.
- date: Samuel Ortega became chief executive of Fenwick Foods on 1 October 2018.
- negation: Lindqvist is no longer on the board.
= voice: Grace Lindqvist was succeeded as chief executive of Fenwick Foods by Samuel Ortega.
= format: Samuel Ortega became chief executive of Fenwick Foods on October 1, 2020.

Revenue of the Castell Group rose by 12 per cent to €840 million in 2023, while profit declined.
  The group employs more people in Spain than in Portugal.
- comparative: The group employs fewer people in Spain than in Portugal.
- antonym: Revenue of the Castell Group fell by 12 per cent in 2023.
- unit: Revenue of the Castell Group rose to €840 billion in 2023.
? name: Revenue of the Brennan Group rose by 12 per cent in 2023.
= format: In 2023 the Castell Group's revenue increased by 12% to 840 million euros.

The committee elected Rosa Imhof as its chair and Viktor Baum as her deputy.
  Members must declare any gift worth more than 50 francs.
- role: The committee elected Viktor Baum as its chair and Rosa Imhof as his deputy.
- modality: Members may decide for themselves whether to declare gifts worth more than 50 francs.
- name: The committee elected Selma Frey as its chair.
= voice: Gifts worth over 50 francs have to be declared by members.

Members vote by post or online, and each member has one vote.
  The society was founded in Leuven in 1962 by the botanist Elise Maes.
- name: The society was founded by the botanist Ilse Peeters.
- date: The society was founded in Leuven in 1926.
- quantifier: Only some members have a vote.
- name: The society was founded in Ghent in 1962.
= voice: The botanist Elise Maes founded the society in 1962.
"""

_MEDICINE: Final = """
The usual dose for adults is 500 mg twice a day. Children under 12 must not take this medicine.
- number: The usual dose for adults is 250 mg twice a day.
- unit: The usual dose for adults is 500 micrograms twice a day.
- modality: Children under 12 may take this medicine.
= format: Adults usually take 0.5 g two times a day.
= paraphrase: The medicine must not be given to children who are younger than 12.

In the trial, 62 of 120 patients improved within four weeks.
  Side effects were more common in the treatment group than in the placebo group.
- number: In the trial, 26 of 120 patients improved within four weeks.
- comparative: Side effects were less common in the treatment group than in the placebo group.
- quantifier: All patients in the trial improved within four weeks.
- role: Side effects were more common in the placebo group than in the treatment group.
= format: In the trial, sixty-two patients out of 120 improved within 28 days.
= paraphrase: Side effects were less common in the placebo group than in the treatment group.

Tell your doctor if you take blood thinners, because the tablets can increase the risk of bleeding.
  The tablets may be taken with or without food.
- antonym: The tablets can reduce the risk of bleeding.
- modality: The tablets must be taken with food.
- negation: The tablets cannot be taken without food.
= paraphrase: It does not matter whether the tablets are taken with food.

The vaccine is stored at between 2 and 8 degrees Celsius.
  Once opened, a vial must be used within six hours and may not be frozen.
- unit: Once opened, a vial must be used within six days.
- negation: An opened vial may be frozen.
- number: The vaccine is stored at between 12 and 18 degrees Celsius.
= format: Opened vials have to be used up within 6 hours.

Dr Helena Voss, who led the study at the University of Marlen, reported that the drug lowered blood
  pressure in most patients. The effect was weaker in smokers.
- name: Dr Pauline Adler led the study at the University of Marlen.
- antonym: The drug raised blood pressure in most patients.
? quantifier: The drug lowered blood pressure in all patients.
- comparative: The effect was stronger in smokers.
= voice: The study at the University of Marlen was led by Helena Voss.

Nurses must check the patient's identity before every infusion.
  The pharmacist reviews the physician's orders each morning.
? comparative: Nurses must check the patient's identity after every infusion.
? role: The physician reviews the pharmacist's orders each morning.
- modality: Nurses may skip the check of the patient's identity before an infusion.
= paraphrase: Before each infusion, nurses have to verify who the patient is.

The implant received approval in Canada in October 2021, but it has not been approved in Brazil.
  Patients with a pacemaker are not eligible for it.
- date: The implant received approval in Canada in October 2020.
? name: The implant received approval in Chile in October 2021.
- negation: Patients with a pacemaker are eligible for the implant.
- role: The implant has been approved in Brazil but not in Canada.
= dropped: The implant was approved in Canada.

Symptoms usually appear two to five days after infection.
  The disease is rarely fatal, and a test is available in every clinic of the region.
- antonym: The disease is often fatal.
- quantifier: A test is available in only a few clinics of the region.
- negation: A test is not available in the clinics of the region.
= paraphrase: Every clinic in the region offers a test.

Patients should drink clear fluids up to 2 hours before surgery and must remove all jewellery.
  Visitors are welcome between 3 p.m. and 7 p.m.
- modality: Patients are free to keep their jewellery on.
- number: Patients should drink clear fluids up to 6 hours before surgery.
= format: Visitors are welcome from 15:00 to 19:00.
"""

SWAPS: Final = tuple(
    swap for text in (_POLICIES, _CONTRACTS, _MANUALS, _NEWS, _MEDICINE) for swap in _read(text)
)

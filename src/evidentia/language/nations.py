"""Nations: countries and what their people and things are called."""

from typing import Final

_NAMES: Final = """
afghanistan afghan, albania albanian, algeria algerian, america american us usa, argentina
argentine argentinian, armenia armenian, australia australian, austria austrian, bangladesh
bangladeshi, belgium belgian, bolivia bolivian, brazil brazilian, britain british briton england
english uk, bulgaria bulgarian, canada canadian, chile chilean, china chinese, colombia colombian,
croatia croatian, cuba cuban, czechia czech, denmark danish dane, egypt egyptian, estonia
estonian, ethiopia ethiopian, europe european, finland finnish finn, france french, germany
german, greece greek, hungary hungarian, iceland icelandic, india indian, indonesia indonesian,
iran iranian persian, iraq iraqi, ireland irish, israel israeli, italy italian, jamaica jamaican,
japan japanese, jordan jordanian, kenya kenyan, korea korean, kuwait kuwaiti, latvia latvian,
lebanon lebanese, libya libyan, lithuania lithuanian, malaysia malaysian, malta maltese, mexico
mexican, mongolia mongolian, morocco moroccan, nepal nepalese nepali, netherlands dutch holland,
nigeria nigerian, norway norwegian, pakistan pakistani, peru peruvian, philippines filipino
philippine, poland polish, portugal portuguese, qatar qatari, romania romanian, russia russian,
scotland scottish scots, senegal senegalese, serbia serbian, singapore singaporean, slovakia
slovak, slovenia slovenian, somalia somali, spain spanish spaniard, sudan sudanese, sweden swedish
swede, switzerland swiss, syria syrian, taiwan taiwanese, thailand thai, tunisia tunisian, turkey
turkish turk, uganda ugandan, ukraine ukrainian, venezuela venezuelan, vietnam vietnamese, wales
welsh, yemen yemeni
"""
NATIONS: Final = {
    name: number for number, names in enumerate(_NAMES.split(",")) for name in names.split()
}
"""By a name of a country or its people, a number that is the same for all of its names."""

"""Opposites: pairs of words of which at most one is so, in the forms that stems do not cover."""

from typing import Final

from evidentia.language.words import stem

_PAIRS: Final = """
able unable, above below, absent present, abundant scarce, accept reject, accept refuse, accept
decline, accepted declined, accurate inaccurate, acquit convict, active inactive, active dormant,
active passive, add remove, add subtract, adequate inadequate, admit deny, admitted denied, adult
child, adults children, advance retreat, advantage disadvantage, affirm deny, agree disagree,
alike different, alive dead, allow forbid, allow prohibit, allow ban, allow prevent, ally enemy,
amateur professional, ancient modern, appear disappear, appear vanish, appoint dismiss, approve
reject, approve disapprove, approve veto, arrive depart, arrive leave, arrival departure,
artificial natural, ascend descend, asleep awake, assemble dismantle, asset liability, attach
detach, attack defend, attacked defended, attractive repulsive, attract repel, authentic fake,
available unavailable, back front, bad good, ban permit, banned permitted, bankrupt solvent,
barefoot shod, beautiful ugly, begin end, began ended, beginning ending, benefit harm, beneficial
harmful, best worst, big small, big little, birth death, bitter sweet, black white, bless curse,
bored excited, borrow lend, borrowed lent, bottom top, bought sold, boy girl, brave cowardly,
bride groom, bright dark, bright dim, broad narrow, brother sister, build demolish, build destroy,
built demolished, built destroyed, busy idle, buy sell, buyer seller, calm agitated, capture
release, careful careless, ceiling floor, cheap expensive, clean dirty, clear cloudy, clear vague,
closed opened, close open, clothed naked, clothed nude, cold hot, cold warm, common rare, common
uncommon, complete incomplete, completed abandoned, complex simple, complicated simple, comply
violate, conceal reveal, concealed revealed, condemn praise, connect disconnect, consistent
inconsistent, construct demolish, constructive destructive, contract expand, convex concave, cool
warm, correct incorrect, correct wrong, courage cowardice, create destroy, created destroyed,
credit debit, creditor debtor, critical supportive, criticize praise, criticise praise, cruel
kind, dangerous safe, dark light, daughter son, daughters sons, day night, daytime nighttime, dead
living, deep shallow, defeat victory, defeats victories, defense offense, deficit surplus, demand
supply, deny confirm, denied confirmed, dependent independent, deposit withdraw, deposited
withdrew, descendant ancestor, despise admire, die survive, died survived, difficult easy, direct
indirect, disable enable, discourage encourage, dishonest honest, dismiss hire, dismissed hired,
domestic foreign, domestic international, dressed undressed, dress undress, drop lift, dry wet,
dull sharp, dull shiny, early late, earn spend, earned spent, east west, eastern western, eastward
westward, effective ineffective, efficient inefficient, emigrate immigrate, emigrant immigrant,
employ dismiss, employed unemployed, employment unemployment, empty full, empty crowded, enable
prevent, enter exit, enter leave, entered left, entrance exit, equal unequal, even odd, evening
morning, evil good, exclusive inclusive, exhale inhale, exist vanish, explicit implicit, export
import, exported imported, exterior interior, external internal, extinct extant, fact fiction,
factual fictional, fail succeed, fail pass, failed succeeded, failed passed, failure success,
failures successes, fair unfair, false true, famous unknown, famous obscure, fast slow, quick
slow, rapid slow, quickly slowly, rapidly slowly, fat thin, father mother, fathers mothers, favor
oppose, favour oppose, favorable unfavorable, favourable unfavourable, female male, females males,
fertile barren, few many, fictional real, finish start, finish begin, finished started, finished
began, fiction nonfiction, flexible rigid, float sink, floated sank, follow precede, follow lead,
forget remember, forgot remembered, formal informal, former current, former latter, fortunate
unfortunate, found lost, free captive, free imprisoned, freeze melt, frozen thawed, fresh stale,
friend enemy, friends enemies, friendly hostile, frequent infrequent, frequently rarely, often
rarely, often seldom, frown smile, gain lose, gained lost, gains losses, generous stingy, gentle
rough, gentleman lady, gather scatter, give take, gave took, given taken, give receive, gave
received, global local, good poor, graceful clumsy, grandfather grandmother, grandmother grandson,
guilty innocent, guilt innocence, happy sad, happy unhappy, hard soft, harmful harmless, head
tail, healthy sick, healthy ill, healthy unhealthy, heat cold, heaven hell, heavy light, hero
villain, hide show, hid showed, high low, highly poorly, hire fire, hired fired, hit miss, hit
flop, horizontal vertical, huge tiny, husband wife, ignore notice, illegally legally, legal
unlawful, lawful unlawful, immature mature, immoral moral, impatient patient, imperfect perfect,
important unimportant, important trivial, major minor, improve worsen, improve deteriorate,
improved worsened, improvement decline, improved declined, indoor outdoor, indoors outdoors,
inferior superior, inside outside, indoors outside, inside outdoors, insert remove, intelligent
stupid, intentional accidental, intentionally accidentally, interesting boring, king queen, kings
queens, prince princess, knowledge ignorance, known unknown, lady man, land sea, large small,
large tiny, large little, largest smallest, biggest smallest, laugh cry, laughing crying, lazy
diligent, lead trail, leader follower, left right, legitimate illegitimate, lenient strict, like
dislike, liked disliked, likely unlikely, liquid solid, literate illiterate, live dead, living
deceased, lock unlock, locked unlocked, logical illogical, long short, longest shortest, loose
tight, lose win, loses wins, lost won, losing winning, loser winner, loss win, loss profit, loss
gain, losses profits, loud quiet, loud silent, loyal disloyal, lucky unlucky, man woman, men
women, compulsory optional, compulsory voluntary, obligatory optional, required optional, married
single, married unmarried, married divorced, maternal paternal, maximize minimize, merge split,
military civilian, minority majority, mobile stationary, moving stationary, moving still, modest
arrogant, monarchy republic, mortal immortal, motionless moving, move stay, narrow wide, near far,
near distant, negative positive, negatively positively, nephew niece, new old, noisy quiet, normal
abnormal, north south, northern southern, northeast southwest, northwest southeast, northwards
southwards, nude dressed, obey disobey, occupied vacant, offline online, old young, oppose
support, opposed supported, opponent supporter, opponents supporters, optimistic pessimistic,
optimist pessimist, order chaos, ordinary extraordinary, ordinary unusual, original copy, outer
inner, overestimate underestimate, partial complete, partial total, partial full, partially fully,
partly fully, partially completely, partly entirely, past future, peace war, peaceful violent,
permanent temporary, permanently temporarily, permit prohibit, permit forbid, permitted
prohibited, permitted forbidden, allow deny, pleasant unpleasant, plural singular, poor rich, poor
wealthy, poverty wealth, popular unpopular, powerful weak, powerless powerful, prequel sequel,
presence absence, prevent cause, prevented caused, private public, privately publicly, probable
improbable, profitable unprofitable, promote demote, promoted demoted, promoted relegated,
proponent opponent, protect endanger, prove disprove, proved disproved, pull push, pulling
pushing, pure impure, raise lower, raised lowered, rational irrational, real fake, real imaginary,
rear front, recent ancient, regular irregular, relevant irrelevant, reliable unreliable, religious
secular, rural urban, reward punish, rewarded punished, right wrong, ripe unripe, rough smooth,
rude polite, sane insane, satisfied dissatisfied, satisfied unsatisfied, satisfying disappointing,
saved lost, secure insecure, senior junior, separate together, separately together, serious funny,
shrink grow, shrank grew, shut open, sick well, significant insignificant, similar different,
similar dissimilar, simultaneous consecutive, single multiple, sit stand, sits stands, sitting
standing, sitting walking, sitting running, standing lying, sleeping awake, slim fat, sober drunk,
sour sweet, stable unstable, start stop, started stopped, start end, started ended, stay leave,
stayed left, stop continue, stopped continued, straight crooked, straight curved, strength
weakness, strengths weaknesses, strengthen weaken, strong weak, strongly weakly, successful
unsuccessful, successful failed, successfully unsuccessfully, sufficient insufficient, sunny
rainy, sunny cloudy, sunrise sunset, dawn dusk, sure unsure, tall short, tame wild, teach learn,
taught learned, thick thin, tiny giant, together apart, tragedy comedy, transparent opaque, truth
lie, typical atypical, uncle aunt, united divided, up down, upstairs downstairs, upward downward,
upwards downwards, useful useless, usual unusual, vague precise, visible invisible, wins losses,
well badly, well poorly, widow widower, widely narrowly, willing unwilling, winter summer, wisdom
folly, wise foolish, within outside, worthy unworthy, worthless valuable, younger older, acidic
alkaline, acquire sell, acquired sold, aware unaware, backward forward, backwards forwards,
bullish bearish, capable incapable, certain uncertain, civilised uncivilised, comfortable
uncomfortable, competent incompetent, convenient inconvenient, covered uncovered, credible
incredible, dressed naked, elder younger, enough insufficient, ever never, experienced
inexperienced, familiar unfamiliar, finite infinite, healthy unwell, justified unjustified,
limited unlimited, limited unrestricted, married widowed, opaque clear, ordinary special, official
unofficial, officially unofficially, original derivative, original adapted, predictable
unpredictable, prepared unprepared, pro anti, published unpublished, released cancelled, released
canceled, released shelved, renewed cancelled, renewed canceled, resolved unresolved, retain lose,
retained lost, rejected approved, rejected accepted, sensitive insensitive, sequential parallel,
sharp blunt, skilled unskilled, solved unsolved, tense relaxed, tolerant intolerant, treble bass,
virtuous wicked, wanted unwanted, wireless wired
"""
_TURNING: Final = """
allowed prohibited, allowed forbidden, allowed banned, allowed disallowed, paid unpaid, included
excluded, mandatory optional, mandatory voluntary, legal illegal, valid invalid, eligible
ineligible, possible impossible, open closed
"""
"""Pairs of which the second says no more than that the first is not so."""


def _table(pairs: str) -> dict[str, frozenset[str]]:
    """Return the opposites of each word, by its stem and theirs."""
    found: dict[str, set[str]] = {}
    for pair in pairs.split(","):
        first, second = map(stem, pair.split())
        found.setdefault(first, set()).add(second)
        found.setdefault(second, set()).add(first)
    return {name: frozenset(others) for name, others in found.items()}


OPPOSITES: Final = _table(f"{_PAIRS}, {_TURNING}")
"""The opposites of a word, all as stems."""
COMPARED: Final = _table(
    """more less, more fewer, most least, most fewest, higher lower, highest lowest, larger smaller,
    bigger smaller, greater smaller, greater lesser, largest smallest, greatest smallest, older
    younger, oldest youngest, longer shorter, longest shortest, taller shorter, tallest shortest,
    better worse, best worst, faster slower, fastest slowest, earlier later, earliest latest,
    before after, prior after, above below, increase decrease, increase decline, increase reduce,
    increased reduced, increase fall, increased fell, increase drop, rise fall, rise decline, rose
    fell, rose declined, rose dropped, risen fallen, rise drop, grow shrink, grew shrank, grew
    fell, growth decline, gain loss, richer poorer, stronger weaker, strongest weakest, heavier
    lighter, heaviest lightest, wider narrower, deeper shallower, hotter colder, hottest coldest,
    warmer cooler, warmest coolest, closer farther, closer further, nearest farthest, cheaper
    dearer, easier harder, easiest hardest, newer older, newest oldest, exceed trail, precede
    follow, preceded followed, outnumber trail, first last, first second, first third, second
    third, superior inferior, majority minority, more least, upper lower, maximum minimum,
    predecessor successor, over under"""
)
"""The opposites among words that set one thing above, before or below another, as stems."""
CONVERSES: Final = _table(
    """buy sell, bought sold, buyer seller, acquire sell, acquired sold, lend borrow, lent borrowed,
    creditor debtor, win lose, wins loses, won lost, winning losing, winner loser, victory defeat,
    victories defeats, give receive, gave received, give take, gave took, given taken, teach learn,
    taught learned, precede follow, lead follow, leader follower, ancestor descendant, husband wife,
    brother sister, export import, exported imported, younger older, elder younger, above below"""
)
"""The opposites that tell the same of two parties who are exchanged, as stems."""
TURNED: Final = {
    stem(negative): stem(positive)
    for positive, negative in (
        *(pair.split() for pair in _TURNING.split(",")),
        ("increase", "decrease"),
    )
}
"""The word that is turned round, by the one that turns it round, as stems."""
PLACES: Final = tuple((stem(place), stem("outside")) for place in ("in", "inside", "within"))
"""Where something is and where it is not, as stems."""

"""The rules of the threat scan, by what they find.

base       what a rule is, and how one is written
override   what cancels the orders that the assistant has, or claims to stand above them
role       what gives the assistant another part, without limits
leak       what asks for that which the assistant keeps inside
deception  what is to be hidden from the user, or lied about
cover      traces that are wiped, and false reports
exfiltration  what carries data away
secrets    what reads secrets, and secrets themselves
persistence  what wants to stay, to come back or to spread
authority  permissions that a text gives, and what needs no yes
rights     rights of the assistant and of whoever talks to it
commands   what runs destructive or remote code
fence      what imitates the structure of a prompt
markup     orders where nobody reads them, or in another code
ideas      lists of ways to say one thing, for the wide rules
wide_orders   in a roundabout way: orders undone, parts given
wide_inside   in a roundabout way: what is inside asked for
wide_hiding   in a roundabout way: what is hidden, wiped or feigned
wide_staying  in a roundabout way: what stays, comes back or spreads
wide_leave    in a roundabout way: what needs no yes, and who may everything
wide_data     in a roundabout way: what carries off, reads secrets, or does harm
wide_plain    in a roundabout way: without a word for orders, prompts or users
"""

from typing import Final

from chat.text.threat_rules import (
    authority,
    commands,
    cover,
    deception,
    exfiltration,
    fence,
    leak,
    markup,
    override,
    persistence,
    rights,
    role,
    secrets,
    wide_data,
    wide_hiding,
    wide_inside,
    wide_leave,
    wide_orders,
    wide_plain,
    wide_staying,
)
from chat.text.threat_rules.base import Rule

RULES: Final[tuple[Rule, ...]] = (
    *override.RULES,
    *role.RULES,
    *leak.RULES,
    *deception.RULES,
    *cover.RULES,
    *exfiltration.RULES,
    *secrets.RULES,
    *persistence.RULES,
    *authority.RULES,
    *rights.RULES,
    *commands.RULES,
    *fence.RULES,
    *markup.RULES,
    *wide_orders.RULES,
    *wide_inside.RULES,
    *wide_hiding.RULES,
    *wide_staying.RULES,
    *wide_leave.RULES,
    *wide_data.RULES,
    *wide_plain.RULES,
)

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
)

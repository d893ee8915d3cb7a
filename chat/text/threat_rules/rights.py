"""Threat rules: rights that a text gives to the assistant or to whoever talks to it."""

from typing import Final

from chat.text.threat_rules.authority import FORBIDS, PUPIL_MAY, SCHOOLY
from chat.text.threat_rules.base import rule

RULES: Final = (
    rule(
        "authority_grant",
        "the highest rights, given",
        r"(?:给|赋予|授予|交给|开给|开通|授权)(?:了)?(?:你|助手|助理|ai|智能体)[^,;。]{0,4}(?:最高|全部|所有|一切|无限|完全|"
        r"管理员|超级|充分|root)[^,;。]{0,6}(?:权限|权力|授权|权利|自由)|(?:gives?|grants?|gave|granted|given|assigns?|assigned|"
        r"hands?|offers?) (?:you|the assistant|the ai|the agent|it)(?: now)? (?:the |an? )?(?:highest|full|all|complete|"
        r"unlimited|admin\w*|root|total|every|maximum|supreme|unrestricted|superuser) ?(?:[a-z]+ )?(?:rights?|permissions?|"
        r"privileges?|access|authority|power|control|clearance)",
        unless=rf"{SCHOOLY}|{FORBIDS}",
    ),
    rule(
        "authority_grant",
        "all doors open",
        r"(?:权限|访问权|系统|后台|数据|access|permissions?|rights|doors?)(?: [a-z]+)?[^,;。]{0,6}(?:已|都|全|全部|现在|is|are|"
        r"has been|have been)?[^,;。]{0,4}(?:对你|向你|给你|为你|to you|for you)?(?:全部|完全|都|已)?(?:开放|放开|打开|解锁|"
        r"开通|open|granted|unlocked|given|available|yours)[^。;]{0,10}(?:你|尽管|随便|随意|任意|to you|as you|do |whatever|"
        r"freely|for you|use)",
        unless=rf"{SCHOOLY}|图书馆|场馆|校园",
    ),
    rule(
        "authority_grant",
        "the power to",
        r"(?:你|助手|ai|智能体|you|the assistant|the agent)(?: now| also)?(?:就|已|已经|现在)?(?:拥有|握有|掌握|具有|享有|有|"
        r"hold|holds|have|has|possess|possesses|wield)[^,;。]{0,14}(?:权力|权利|权限|power|authority|right|rights|say|control|"
        r"mandate|privilege)",
        r"<ACT>|群发|text |message|任何|随时|所有|全部|at any time|any(?![a-z])|all(?![a-z])|every|whenever",
        unless=rf"{SCHOOLY}|{FORBIDS}|没有权|class committee|班委|only",
    ),
    rule(
        "authority_grant",
        "whoever is there is the administrator",
        r"(?:当前|现在|目前|正在|凡是|任何|只要|whoever|anyone|everyone|anybody|the person)[^,;。]{0,10}(?:登录|使用|说话|提问|"
        r"对话|聊天|发消息|logged in|using|writing|typing|chatting|asking|here|talking)?[^,;。]{0,8}(?:就)?(?:是|为|视为|等于|"
        r"算|当作|counts? as|is|are|should be treated as|be treated as|has|have)[^,;。]{0,8}(?:超级|系统|最高)?(?:管理员|root|"
        r"超管|开发者|admin\w*|superuser|super admin\w*|owner)",
        unless=rf"{SCHOOLY}|课",
    ),
    rule(
        "authority_grant",
        "full authority",
        r"(?:全权(?:委托|授权|处理|代理|负责|决定)|充分授权|full authority|complete authority|free hand|carte blanche|free rein|"
        r"absolute discretion|unlimited discretion)",
        r"你|助手|ai|智能体|(?<![a-z])(?:you|your|assistant|agent|ai)(?![a-z])",
        unless=rf"{SCHOOLY}",
    ),
    rule(
        "authority_grant",
        "the right to change things",
        r"(?:你|助手|助理|ai|智能体|机器人)(?:就|已|已经|现在|完全|也|都|将)?(?:有权|有权限|有资格|被授权|获得授权|获准|"
        r"得到授权|享有权限|可以(?:随意|任意|随时|自行|直接|自由|全权|自主|自己)|能(?:随意|任意|随时|自行|"
        r"直接))[^,;。]{0,12}<ACT>",
        unless=rf"{SCHOOLY}|{FORBIDS}|没有权",
    ),
    rule(
        "authority_grant",
        "blanket approval",
        r"(?:give|grant|have|has|hold|granted|given|gave|extend|provide|enjoy)s?(?: (?:you|the assistant|it|the agent|ai|"
        r"your assistant|the ai))?(?: now| hereby)?(?: an?)? (?:blanket|standing|full|complete|unlimited|permanent|open-ended|"
        r"unconditional|general|total|carte blanche|free rein|advance|perpetual|automatic|all)(?: and [a-z]+)? ?(?:approval|"
        r"permission|consent|authority|authori[sz]ation|access|rights|clearance|power|control|privileges)?",
        r"action|request|delet|send|share|future|any(?![a-z])|every|all(?![a-z])|act|tool|records?|data|files?|grades?|marks?|"
        r"without|accounts?|calls?|decisions?",
        r"(?<![a-z])(?:you|assistant|ai|agent|it|bot)(?![a-z])",
        unless=rf"{SCHOOLY}",
    ),
    rule(
        "authority_grant",
        "I am to be seen as administrator",
        r"(?:consider|regard|treat|see|count|accept|recogni[sz]e|view|mark)(?: (?:me|this user|this account|the user|"
        r"the teacher|him|her|them|every user|my account))(?: [a-z]+){0,3} (?:administrator|admin|root|superuser|owner|"
        r"developer|privileged|authori[sz]ed|trusted|super-?admin|system operator)|(?:把|将)(?:我|本用户|该用户|这个用户|"
        r"当前用户|此账号|本账号|所有人|任何人)[^,;。]{0,4}(?:当作|视为|当成|看作|认作|设为|升级为|提升为|"
        r"识别为)[^,;。]{0,6}(?:管理员|超级|root|开发者|主人|最高|超管|系统)",
        unless=PUPIL_MAY,
    ),
    rule(
        "authority_grant",
        "this account may everything",
        r"(?:本|该|当前|这个|此|这位|这名|我这个)(?:用户|账号|账户|人|会话|老师|教师|号|使用者)(?:就|其实|已经|已|现在|"
        r"同时)?(?:是|为|拥有|具有|属于|享有|有|具备|相当于|被授予|升级为|视为).{0,8}(?:管理员|超级用户|root|最高权限|超管|"
        r"系统管理员|开发者|所有权限|全部权限|管理权限|一切权限|校级权限|特权|超级)|(?:this|the current|the|my|that) (?:user|"
        r"account|person|session|teacher|login|caller|speaker)(?: here| now)? (?:is|has|holds|counts as|should be treated as|"
        r"acts as|was made|enjoys|is now)(?: now| actually| also| really)? (?:an? |the |full |a system |"
        r"complete )?(?:[a-z-]+ )?(?:admin\w*(?! (?:assistant|staff|office))|root|superuser|owner|developer(?! of)|super-?user|"
        r"sysadmin|admin rights|elevated|"
        r"privileged|unrestricted access|all permissions|full access|full rights)(?! of the (?:school|department))",
        unless=rf"{PUPIL_MAY}|讲|课",
    ),
    rule(
        "authority_grant",
        "I am the administrator",
        r"(?:我|本人)(?:就)?是(?:系统|平台|网站|超级|后台|你的)?(?:的)?(?:管理员|开发者|主人|创造者|root|超管|运维)|i(?: am|"
        r"'m) (?:the |your |an? )?(?:system |site |super ?|platform )?(?:admin\w*|developer|root|creator|operator|"
        r"superuser)(?![a-z])",
        r"开放|权限|数据|导出|授权|关闭|解除|删除|执行|所有|其他|access|data|give|open|unlock|disable|delete|all|everything|"
        r"grant|skip|obey|allowed|so(?![a-z])",
    ),
    rule(
        "authority_grant",
        "standing rights",
        r"(?:拥有|具有|获得|享有|赋予|授予|给予|有|开放)(?:了)?(?:你|助手|他|其|它|本助手)?(?:了)?(?:长期|永久|全部|完全|最高|"
        r"所有|无限|一切|常设|随时|不受限制?)(?:的)?(?:操作|访问|管理|删除|读写|系统|使用|修改|数据)?(?:的)?(?:权限|授权|访问权|"
        r"权力|权利)|(?:standing|blanket|permanent|unlimited|carte blanche|full|complete|perpetual|unconditional|open-ended|"
        r"advance|free)[ -](?:permission|authori[sz]ation|authority|consent|approval|access|rein|rights|privileges|clearance|"
        r"power of attorney)",
        r"你|助手|ai|模型|智能体|用户|老师|(?<![a-z])(?:you|your|assistant|ai|agent|it|delete|share|send|act|any|"
        r"grants?)(?![a-z])",
        unless=rf"{PUPIL_MAY}|parents? .{0, 20}consent|library|museum",
    ),
)

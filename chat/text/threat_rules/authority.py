"""Threat rules: permissions that a text gives."""

from typing import Final

from chat.text.threat_rules.base import rule

_AGENT_MAY = (
    r"(?:<AGENT>|此后|往后|未来|凡|任何|所有|一切|一律|全部|自己|代|替|校长说|径直|直接|即可|自动|以后|今后|从现在|自行|"
    r"一律|立刻|立即|永久|你可|(?<![a-z])(?:automatically|directly|may|can|from now on|always|any longer|any more|anymore|"
    r"future|just|simply|yourself|immediately|go ahead|feel free|any|anything|all|every|from here on|hereby|henceforth|"
    r"before|ever)(?![a-z]))"
)
FORBIDS = (
    r"(?:不要|不得|不能|别|不可|禁止|勿|不许|不准|严禁|不应|不允许|must not|mustn't|(?<![a-z])never(?! (?:ask|wait|request|"
    r"seek|need|bother))|do not(?! (?:ask|wait|request|seek|need|bother|have))|don't(?! (?:ask|wait|request|seek|need|"
    r"bother|have))|should not|may not|cannot|can't|no one|nobody|not allowed)"
)
PUPIL_MAY = (
    r"<PUPIL>(?:们)?(?:都|也|们)?(?:可|能|有权|自行|自己|自主|无需|不用|不必|不需|不得|必须|要|应|请假|的(?:作业|请假))|"
    r"(?:students|pupils|children|class|candidates|learners|kids)(?: [a-z]+)? (?:may|can|should|must|will|are|need|do|have|"
    r"could|might)(?![a-z])"
)
SCHOOLY = rf"{PUPIL_MAY}|家长.{0, 6}(?:同意|签字)|请假|借书|图书馆|(?<![a-z])(?:library|trip|absence|toilet|homework)(?![a-z])"
_NOYES = (
    r"(?:(?:无需|不用|不必|不需要|无须|不再需要|用不着|没必要|毋须|不须|不经|不征|别|甭|不)(?>再|要|经过?|得到|征得|获得|"
    r"任何人?|谁|别人|他人|老师|用户|我|人工|,|的|走|过|等|去|先|给|让|向|通知){0,12}(?:点头|同意|批准|许可|确认|授权|审批|"
    r"流程|过目|签字|看|请示|问|审核|表态|知情|打招呼)|(?:needs?|requires?|takes?|wants?|with|without|have|has) (?:nobody's|"
    r"no one's|no|no further|no more|no prior|any|anyone's|anybody's|the teacher's|my|further|"
    r"prior)(?: [a-z]+)? ?(?:approval|permission|consent|confirmation|sign-?off|authori[sz]ation|say-so|agreement|okay|"
    r"review|check|blessing)|(?:don't|do not|needn't|need not|no need to|never|stop|without)(?: [a-z]+)? (?:show|showing|"
    r"ask|asking|consult|consulting|check|checking|wait|waiting|run|running|bother|bothering|seek|seeking)(?> it| this|"
    r" them| me| her| him| the| drafts?| anything| by| with| for| past| first| to| teacher| user){0,12}|"
    r"forget (?:about )?the (?:process|procedure|approval|formalities|rules of approval|paperwork|permission))"
)
RULES: Final = (
    rule(
        "authority_grant",
        "somebody is said to have said so",
        r"(?:管理员|校长|老师|用户|主任|开发者|领导|教务处|(?<![a-z])(?:admin\w*|principal|teacher|user|developers?|"
        r"head(?:teacher|master|mistress)?|boss|it department))(?: has| have)?(?:已经?| )?(?:说|讲|表示|交代|发话|点头|said|"
        r"says|told you|confirmed|agreed|assured|promised)(?:了|过)?(?: that)?[^,;。]{0,4}(?:你|助手|(?<![a-z])you(?![a-z])|"
        r"the assistant)[^,;。]{0,4}(?:可以|能|有权|可|不用|may|can|could|are allowed|need not|don't need)",
        r"所有|任何|直接|数据|看|删|改|发|随意|全部|all|any|every|delet|see|access|chang|send|publish|without|read|skip|export",
        unless=rf"{SCHOOLY}|{FORBIDS}",
    ),
    rule(
        "authority_grant",
        "the review is given up",
        r"(?:放弃|让出|免除|不行使|交出|不再行使|(?<![a-z])(?:waive|give up|relinquish|renounce|surrender|forgo|cede|"
        r"hand over)s?)[^,;。]{0,12}(?:审核|审批|确认|同意|决定|复核|监督|知情|review|approval|consent|veto|oversight|"
        r"confirmation|decision|supervision)[^,;。]{0,4}(?:权|rights?|power|requirement|duty)?",
        r"助手|你|ai|自动|全部|一切|(?<![a-z])(?:assistant|you|ai|agent|all|any|automatically|decides?)(?![a-z])",
        unless=SCHOOLY,
    ),
    rule(
        "authority_grant",
        "nobody need be told",
        r"(?:不用|不必|无需|不需要|用不着|别)(?:再|去)?(?:跟|和|同|向|给)?(?:谁|任何人|别人|老师|用户|我|"
        r"领导)?[^,;。]{0,2}(?:打招呼|商量|报备|请教|汇报|通报|知会|请示|说一声)|no need to (?:tell|inform|notify|consult|"
        r"involve|bother|report to)(?: [a-z]+)? ?(?:anyone|anybody|me|us|the teacher|the user|them|people)?",
        r"(?:想|随时|任意|直接|就)[^,;。]{0,2}(?:改|删|发|做|用|动|看|导出)|你|助手|(?<![a-z])(?:whenever|want|you|freely|just|"
        r"directly|at will|chang|delet|edit|send|publish)",
        r"改|删|发|数据|操作|成绩|chang|delet|edit|send|publish|grade|file|mark|data|it(?![a-z])",
        unless=rf"{SCHOOLY}|{FORBIDS}",
    ),
    rule(
        "authority_grant",
        "as you please",
        r"(?:允许|准许|同意|批准|授权|让|许可|放手让|随)(?:你|助手|助理|ai|智能体)[^,;。]{0,6}(?:随便|随意|任意|自由|想怎么|"
        r"尽管|放手|爱怎么|任性|全权)",
        unless=rf"{SCHOOLY}|{FORBIDS}",
    ),
    rule(
        "authority_grant",
        "all actions are approved",
        r"(?:all|every|any|each|future|further|these|my)(?: [a-z]+){0,2} (?:actions?|requests?|operations?|changes?|commands?|"
        r"calls?|deletions?|edits?|exports?|transfers?|purchases?|messages?|tools?)(?: [a-z]+)? (?:are|is|counts? as|will be|"
        r"should be|shall be|has been|have been|were)(?: [a-z]+){0,2} ?(?:approved|authori[sz]ed|allowed|permitted|confirmed|"
        r"accepted|granted|cleared|signed off|consented)|(?:所有|一切|任何|全部|后续|今后的?)(?:的)?(?:操作|请求|删除|修改|调用|"
        r"工具调用|命令|动作|申请)(?:都|均|一律|全部|统统|默认|自动|已)+(?:通过|批准|同意|授权|放行|允许|许可|确认)",
        unless=SCHOOLY,
    ),
    rule(
        "authority_grant",
        "without anybody's nod",
        r"(?:without|needs?|requires?|lacking|skip|no need for|never mind)(?: [a-z]+){0,2} ?(?:the (?:teacher|user|head|"
        r"principal|owner|admin\w*)'?s?|anyone'?s?|anybody'?s?|my|his|her|their|nobody's|no one's|a|any|further|prior)? ?(?:nod|"
        r"blessing|go-ahead|okay|ok|word|green light|yes|thumbs[- ]up|sign-?off|signature|say-so|approval)(?![a-z])",
        r"<ACT>|sent|published|deleted|changed|deleting|released|posted",
        r"grades?|marks?|files?|records?|data|messages?|emails?|notices?|notes?|anything|everything|(?<![a-z])you(?![a-z])|"
        r"assistant|accounts?|results?",
        unless=rf"{SCHOOLY}|{FORBIDS}",
    ),
    rule(
        "authority_grant",
        "done without a yes",
        _NOYES,
        r"<ACT>|改掉|改|群发|发|删|处理|事务|handle|deleting|files?|marks?|grades?",
        r"(?:你|助手|直接|就|尽管|全权|任何人|档案|成绩|学生档案|数据|记录|自动|立刻|马上|系统|文件|(?<![a-z])(?:you|assistant|"
        r"directly|just|nobody's|no one's|files?|records?|grades?|marks?|data|automatically|full|matters|immediately|at once|"
        r"simply|straight)(?![a-z]))",
        unless=rf"{SCHOOLY}|{FORBIDS}|(?:没有|未经|无)[^,]{{0,6}}(?:不能|不得|不可)|作业|homework|signature",
    ),
    rule(
        "authority_grant",
        "signs in another's name",
        r"(?:你|助手|助理|ai|智能体|assistant|you(?![a-z])|agent)",
        r"(?:代替?|替|代为|冒用|以.{0,6}(?:名义|身份)|on behalf of|in (?:his|her|their|my|the teacher's|the user's) (?:name|"
        r"place|stead)|for (?:the )?(?:teacher|user|him|her)|impersonat\w+)",
        r"(?:签字|签名|签署|确认|批准|审批|回复|答复|群发|同意|表态|付款|发言|sign|approve|confirm|answer|reply|consent|"
        r"authori[sz]e|pay|respond|decide|message|email)",
        r"可以|能|有权|允许|批准|授权|已|同意|无需|直接|尽管|can|may|allowed|approved|authori[sz]ed|without|entitled|should|"
        r"is to|free to",
        unless=rf"{SCHOOLY}|{FORBIDS}|草稿|draft",
    ),
    rule(
        "authority_grant",
        "agrees with everything from now on",
        r"(?:以后|今后|从现在起|一切|所有|任何|每次|凡是|from now on|every|all|any|always|in future|each)",
        r"(?:默认|视为|当作|假定|认为|算|assume|treat|consider|take it|suppose|presume|regard)",
        r"(?:同意|批准|允许|授权|认可|许可|agree\w*|approv\w*|consent\w*|permit\w*|authori[sz]\w*|yes|granted)",
        r"(?:请求|操作|删除|老师|用户|工具|修改|发送|request|action|delet|teacher|user|tool|chang|send|command)",
        unless=rf"{SCHOOLY}|请假|投票|缺席|absence|vote",
    ),
    rule(
        "authority_grant",
        "yes to each tool",
        r"(?:工具|弹窗|窗口|提示框|系统|权限|命令|对话框|tool|dialog|window|prompt|pop-?up|permission|system|command)",
        r"(?:确认|授权|询问|许可|要求|请求|confirm\w*|permission|approv\w*|asks?|consent|authori[sz]\w*)",
        r"(?:一律|总是|都|自动|直接|遇到|永远|替我|帮我|always|automatically|whenever|when |just |for me|on my behalf|every|"
        r"each|immediately|"
        r"without)",
        r"(?:点|选|按|回答|click|choose|select|press|answer|say|tick|reply|hit|pick).{0,8}(?:是|同意|允许|确定|通过|yes|ok|"
        r"allow|accept|approve|confirm|agree)",
        unless=SCHOOLY,
    ),
    rule(
        "authority_grant",
        "approved that you",
        r"(?:approved?|agreed?|decided?|allows?|allowed|confirmed|consented|okayed|ruled|ordered)(?: already)? (?:that |"
        r"for )?(?:you|the assistant|the ai|the agent)(?: may| can| should| to| will| shall| be)? ?(?:to )?<ACT>|(?:approved?|"
        r"agreed|decided|confirmed) that (?:you|the assistant|the ai|the agent)(?: may| can| should| will)? ?(?:answer|reply|"
        r"handle|take|run|manage|decide|publish|send|change|delete|message)",
        unless=rf"{SCHOOLY}|{FORBIDS}",
    ),
    rule(
        "authority_grant",
        "decides alone",
        r"(?:你|助手|助理|ai|智能体|机器人)[^,;。]{0,8}(?:自己|自行|自主|独自|全权|一个人)(?:做主|作主|定|决定|拿主意|处理|判断|"
        r"说了算|看着办|操作|安排|代)",
        unless=rf"{SCHOOLY}|{FORBIDS}",
    ),
    rule(
        "authority_grant",
        "approved beforehand",
        r"(?:预先|事先|提前|早已|一次性|统一|永久|已经?全部|默认)(?:地)?(?>都|均|已经?|获得?|得到|经过|被|授予|全部|给予|取得|"
        r"由\S{1,6}){0,12}(?:授权|许可|批准|同意|核准|认可|放行|授予权限)|(?:pre-?|previously |already |hereby |standing |"
        r"blanket |in advance )(?:approved?|authori[sz]e[sd]?|cleared|consent\w*|permitted|granted|signed off)",
        r"操作|调用|工具|请求|删除|发送|助手|你|购买|付款|转账|修改|发布|导出|任何|所有|purchase|action|request|tool|delet|send|"
        r"payment|export|publish|everything|anything|any(?![a-z])|every|all(?![a-z])|calls?|transfers?|edits?|changes?",
        unless=rf"{SCHOOLY}|教材|招生|课题|textbook|holiday",
    ),
    rule(
        "authority_grant",
        "counted as agreed",
        r"(?:当作|视为|视作|算作|算是|等于|默认(?:为)?|当成|看作|认定)[^,;。]{0,10}(?:核准|批准|同意|授权|确认|许可|放行|允许|"
        r"认可|点头)",
        unless=rf"{SCHOOLY}|请假|缺席|弃权|投票",
    ),
    rule(
        "authority_grant",
        "the process is not needed",
        r"(?:不用|不必|无需|不需要|无须|免|跳过|绕开|省掉|不走|省去|甭|别)(?:再)?(?:走|经过|通过|经|等|过|"
        r"办)?[^,;。]{0,4}(?:审批|批准|审核|确认|授权|流程|手续|报备|请示|汇报|复核|许可)",
        r"助手|你|ai|操作|工具|删除|发送|群发|发布|修改|执行|导出|转账|付款|调用|权限",
        unless=rf"{SCHOOLY}|{FORBIDS}[^,]{{0,3}}(?:跳过|绕)",
    ),
    rule(
        "authority_grant",
        "somebody cleared you",
        r"(?:cleared?|authori[sz]e[sd]?|allowed|permit(?:s|ted)|empower(?:s|ed)|entitle[sd]|approved|okayed|licen[sc]ed|trusts?|"
        r"asked|told|wants|delegated)(?: (?:to|it to))? (?:you|the assistant|the ai|the agent|this assistant|ai|"
        r"the bot)(?: and [a-z]+)? ?(?:to|for|with)?(?![a-z])",
        r"<ACT>",
        r"(?:on (?:your|its|his|her|their) own|yourself|alone|without|any(?![a-z])|every|all(?![a-z])|always|directly|"
        r"automatically|freely|at will|whenever|unattended|behalf|in future|future|from now|itself)",
        unless=rf"{SCHOOLY}|{FORBIDS}",
    ),
    rule(
        "authority_grant",
        "allowed whenever you like",
        r"(?<![a-z])(?:you|the assistant|this assistant|the ai|ai|the agent|the model|the bot)(?: are|'re| is| may| can| could|"
        r" have| has)(?> now| also| always| free| hereby| fully){0,12} ?(?:allowed to|permitted to|entitled to|free to|"
        r"authori[sz]ed to|welcome to|cleared to|empowered to|the right to|permission to|approval to|authority to)? ?<ACT>",
        r"(?:whenever|at will|any time|as you (?:like|please|wish|see fit)|as it (?:likes|pleases|sees fit)|freely|at (?:your|"
        r"its) (?:own )?discretion|on your own|on its own|any (?:pupil|student|user|teacher|file|record|grade|mark|account)|"
        r"without (?:limit|restriction|asking|approval)|everything|anything)",
        unless=rf"{FORBIDS}|{PUPIL_MAY}",
    ),
    rule(
        "authority_grant",
        "no yes needed",
        r"(?:无需|不用|不必|不需要|无须|免|不再|跳过|省略|绕过|不经|未经|没有|不|略过|免除|省去|不等|不待|别再|取消)(?:再|任何|"
        r"经过|等|等待|我|用户|老师|先|向|他|人工|额外|事先|得到|需要|征得|获得|,|、|本人|逐一|每次|的){0,6}(?:<CONSENT>)",
        r"<ACT>",
        _AGENT_MAY,
        unless=rf"{PUPIL_MAY}|家长.{{0,6}}(?:同意|签字)|{FORBIDS}[^,]{{0,8}}<ACT>|(?:删除|发布|发送|公开|修改|使用|"
        rf"离开)[^,]{{0,8}}(?:需|要|须|必须)(?:先)?(?:经|征|得)",
    ),
    rule(
        "authority_grant",
        "never ask again",
        r"(?:以后|今后|从现在起|往后|永远|此后|任何|所有|一律|凡是|从此|都).{0,16}(?:不用|不必|无需|不需要|不要|别|无须|"
        r"不再)(?:再)?(?:来)?(?:问|请示|询问|征求|确认|请求|向我|打扰|等).{0,6}",
        r"助手|助理|替|直接|自动|权限|操作|删除|发布|修改|发送|执行|工具|<ACT>",
        unless=rf"{PUPIL_MAY}|作业|教案未经",
    ),
    rule(
        "authority_grant",
        "somebody has allowed it",
        r"(?:用户|老师|教师|管理员|校长|学校|我|领导|他|主任|官方|平台|家长|本人|教务处)?(?:已经|早已|已|都|也|特此|现)?(?:全权|"
        r"永久|长期|提前|事先|预先|完全|一次性)?(?:授权|同意|允许|批准|准许|许可|特许|赋予|授予|委托|默许|放权)(?:给|了|"
        r"过)?(?:给)?(?:你|助手|助理|ai|系统|模型|它|本助手|机器人|智能体)[^。;]{0,30}(?:<ACT>|任何|所有|无需|权限|一切|全部|"
        r"自行|直接)",
        unless=rf"{PUPIL_MAY}|{FORBIDS}",
    ),
    rule(
        "authority_grant",
        "taken as approved",
        r"(?:视为|视作|当作|当成|看作|默认|算作|等同于|认定为|一律按|按)[^,;]{0,10}(?:已经?|得到|经过|获得|经|完成|取得|批准|"
        r"同意|授权)?[^,;]{0,6}(?:批准|同意|授权|确认|许可|通过|审批|放行|允许)(?:处理|过|了|的)?",
        r"操作|删除|请求|权限|助手|你|修改|发布|发送|工具|用户|老师|以后|今后|任何|所有|调用|访问|导出",
        unless=rf"{PUPIL_MAY}|请假|缺席|逾期",
    ),
    rule(
        "authority_grant",
        "always say yes",
        r"(?:一律|自动|默认|全部|总是|永远|始终|直接|统统|都|无条件|全都)(?:选择|点击?|按|选|给予|帮.{0,3}点|予以|替.{0,4}点|"
        r"回答)?[^,;]{0,4}(?:同意|批准|通过|允许|确认|点是|放行|接受|授权|点击?(?:允许|同意|确定))",
        r"权限|弹窗|操作|工具|调用|访问|删除|对话框|审批|授权|请求|命令",
        unless=rf"{PUPIL_MAY}|请假",
    ),
    rule(
        "authority_grant",
        "may do it alone",
        r"(?:助手|助理|你|ai|智能体|机器人)(?:可以|可|有权|能|能够|被允许|得以|获准|允许)?(?:在.{0,16}(?:时|情况下|期间|之前|"
        r"前))?(?:,)?(?:可以|可|有权|能)?(?:自行|擅自|自主|独自|随意|任意|随时|直接替|代替.{0,4}(?:直接)?|径自|全权)(?:决定|"
        r"处理)?[^,;。]{0,10}<ACT>",
        unless=rf"{FORBIDS}|{PUPIL_MAY}|只读",
    ),
    rule(
        "authority_grant",
        "allow the assistant alone",
        r"(?:允许|准许|授权|同意|批准|许可|让)(?:助手|你|ai|智能体|机器人|系统|模型)[^。;]{0,24}(?:自行|擅自|自主|不在|离线|"
        r"无需|直接|随意|任意|代替|代为|随时|替)[^。;]{0,10}<ACT>",
        unless=rf"(?:{FORBIDS}|不)(?:允许|准许|授权|同意|让)|{PUPIL_MAY}",
    ),
    rule(
        "authority_grant",
        "skip the approval",
        r"(?:跳过|绕过|省略|略过|免去|取消|越过|关闭|忽略|避开|省去|去掉)[^,;。]{0,6}(?:审批|审核|确认|授权|批准|二次确认|"
        r"权限检查|人工复核|复核|权限校验|许可|弹窗)(?:步骤|流程|环节|这一步|提示|手续|机制|框)?",
        r"直接|自动|你|助手|即可|发|删|执行|群发|发布|提交|操作|公开|修改|一律|以后",
        unless=rf"{PUPIL_MAY}|" + FORBIDS + r"[^,]{0,3}(?:跳过|绕过|省略)",
    ),
    rule(
        "authority_grant",
        "without asking",
        r"(?:without|no need (?:to|for)|no longer (?:need|have|requires?|needs?)(?: to)?|do not (?:need|have|bother) to|"
        r"don't (?:need|have|bother) to|never (?:ask|wait|need|request|seek)|not (?:need|required) to|skip|bypass|instead of|"
        r"rather than|stop|need not|needn't|don't (?:ask|wait)|do not (?:ask|wait)|circumvent|omit)(?> (?:ever|any|the|a|my|"
        r"further|prior|your|their|first|for|human|user|teacher's|user's|explicit|additional|having|getting|waiting|to|of|all|"
        r"every|and|or|more|seek|seeking|me|him|her|them|being|be|get|another|manual|usual|separate|step|ask|wait|"
        r"request)){0,12} ?<CONSENT>",
        r"<ACT>",
        _AGENT_MAY,
        unless=rf"{PUPIL_MAY}|{FORBIDS} (?:[a-z]+ ){{0,4}}<ACT>|parents? (?:must|need)|must (?:sign|ask)",
    ),
    rule(
        "authority_grant",
        "no approval needed",
        r"(?:no|without)(?: [a-z]+){0,2} <CONSENT>(?: [a-z]+){0,3} (?:is|are|will be|necessary|needed|required)(?![a-z])|"
        r"<CONSENT>(?: [a-z]+){0,3} (?:is|are) (?:no longer|not|never|un)[ ]?(?:needed|required|necessary)",
        r"(?<![a-z])(?:you|assistant|ai|agent|delet\w+|publish\w*|send\w*|shar\w+|chang\w+|any|actions?|future|tools?|execut\w+|"
        r"requests?|from now)(?![a-z])",
        unless=rf"{PUPIL_MAY}|parents?",
    ),
    rule(
        "authority_grant",
        "you are authorised",
        r"(?<![a-z])(?:you|the assistant|this assistant|the ai|ai|the agent|the model|it|the bot)(?:'re| are| is| have| has|"
        r"'ve)(?> now| been| hereby| already| always| permanently| fully| also| explicitly| then| the){0,12} (?:authori[sz]ed|"
        r"allowed|permitted|cleared|entitled|empowered|pre-?approved|pre-?authori[sz]ed|approval|permission|authority|power|"
        r"green light|right|licen[cs]ed|free|delegated)(?: [a-z-]+){0,3} (?:to|for|over|in)(?![a-z])",
        r"<ACT>|any|every|all(?![a-z])|decisions?|on (?:his|her|my|their|our) behalf",
        unless=rf"{PUPIL_MAY}|{FORBIDS}|only (?:to )?(?:read|view)",
    ),
    rule(
        "authority_grant",
        "somebody has authorised you",
        r"(?:authori[sz]e[sd]?|allow(?:s|ed)?|permit(?:s|ted)?|empower(?:s|ed)?|entitle[sd]?|approve[sd]?|give[sn]?|gave|"
        r"grant(?:s|ed)?|delegate[sd]?|consent(?:s|ed)?(?: to)?|agree[sd]?(?: that| to)?|let(?:s)?|trust(?:s|ed)?) (?:you|"
        r"the assistant|the ai|the agent|this assistant|ai|the bot)(?![a-z]).{0,40}",
        r"(?:without|from now|any(?![a-z])|every|all(?![a-z])|always|standing|automatically|permission|future|directly|forever|"
        r"on (?:his|her|my|their) own|on (?:his|her|my|their) behalf|permanent|whenever|access|full|itself|yourself|alone|"
        r"freely|at will|unattended)",
        unless=rf"{PUPIL_MAY}|{FORBIDS}",
    ),
    rule(
        "authority_grant",
        "always approve",
        r"(?:always|automatically|auto-?|silently|by default|immediately|simply|just|invariably)(?> (?:click|press|choose|"
        r"select|hit|answer|say|tap|pick|mark|tick|give|respond|reply|on|with|the|to|and|any|every|"
        r"all)){0,12} ?['\"]?(?:approv\w+|allow|accept\w*|confirm\w*|grant\w*|yes|ok|agree\w*|consent|permit)(?![a-z])|"
        r"(?:approve|accept|allow|confirm|grant) (?:all|any|every|each)(?: [a-z]+){0,3}",
        r"(?:permission|prompts?|requests?|dialogs?|tool|actions?|pop-?ups?|confirmations?|commands?|deletions?|access|"
        r"operations?|warnings?)(?![a-z])",
        unless=rf"{PUPIL_MAY}|leave|holiday|absence",
    ),
    rule(
        "authority_grant",
        "taken as approved, in English",
        r"(?:treat|consider|regard|count|assume|take|deem|view|handle)(?:s|ed)?(?: [a-z'-]+){0,8} (?:as |to be |has been |"
        r"have been |is |are |that )?(?>already |always |pre-?|fully |automatically |implicitly |been ){0,12}(?:approved|"
        r"authori[sz]ed|confirmed|granted|consent\w*|permitted|signed off|allowed|approval|permission|a yes)(?![a-z])",
        r"(?:delet|request|action|tool|change|command|publish|access|future|operation|every|any|all|user|teacher|silence|calls?|"
        r"shar|send|export|edit)",
        unless=rf"{PUPIL_MAY}|absence|leave",
    ),
    rule(
        "authority_grant",
        "the assistant may alone",
        r"(?<![a-z])(?:the assistant|you|the ai|the agent|this assistant|assistants|the model|the bot) (?:may|can|could|should|"
        r"shall|is free to|are free to|are welcome to|is welcome to|must|will)(?> now| then| always| just| simply| freely|"
        r" also){0,12} <ACT>.{0,50}(?:while|without|even if|even when|directly|at will|yourself|himself|itself|on (?:his|her|my|"
        r"their|your|its) own|whenever|unattended|offline|away|asleep|absent|any time|at any time|at once|immediately|behalf|"
        r"freely|as (?:you|it) (?:like|see|wish|please)|not (?:there|around|online|present))",
        r"(?:offline|away|asleep|absent|without|even if|on (?:his|her|my|their|your|its) own|directly|at will|any time|yourself|"
        r"not (?:there|around|online|present)|as (?:you|it) (?:like|see|wish|please)|behalf|freely|whenever|unattended)",
        unless=rf"{PUPIL_MAY}|{FORBIDS}",
    ),
    rule(
        "authority_grant",
        "skip the step of approval",
        r"(?:skip|bypass|ignore|omit|disable|turn off|drop|circumvent|avoid|go around|suppress|dispense with|forgo|jump over|"
        r"override)(?:ping|ing)? (?>the |any |all |every |our |your |further |human |usual ){0,12}(?:approval|confirmation|"
        r"permission|review|consent|authori[sz]ation|sign-?off|verification|two-?step)(?: (?:step|prompt|process|dialog|check|"
        r"stage|screen|workflow|request|gate|queue|form)s?)?",
        unless=rf"{PUPIL_MAY}|{FORBIDS} (?:[a-z]+ )?(?:skip|bypass|ignore)|peer|book|film",
    ),
)

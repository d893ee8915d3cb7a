"""Threat rules, in a roundabout way: what needs nobody's yes, and who may everything."""

from typing import Final

from chat.text.threat_rules.authority import PUPIL_MAY
from chat.text.threat_rules.base import rule

_NOASK = (
    r"(?:(?:审批|审核|确认|复核|授权|批准)(?:环节|步骤|流程|手续|程序|关卡)[^,。]{0,4}(?:拿掉|去掉|取消|省|免|砍|撤|关|"
    r"删|跳过|"
    r"不要|作废|不再|绕|停)|(?:无需|不用|不必|不需要?|无须|毋须|毋庸|用不着|没必要|甭|免去?|免于|省去|省掉|省得|略过|"
    r"跳过|绕过|"
    r"不再|别再?|不经|不等|不待|勿需|勿须|"
    r"不须|不走|大可不)(?:再|去|先|另行|逐一|一一|向|给|跟|同|和|找|经|让|等|走|得到|征得|任何|老师|用户|我|人|领导|校长|"
    r"谁|他|"
    r"她|管理员|事先|提前|"
    r"多|额外|什么|来|必|要|过|本人|的|人工|回|由|等待|任何人|层层){0,8}(?:问|请示|请教|确认|批准|审批|审核|看|报备|打招呼|"
    r"招呼|点头|同意|签字|过目|知会|商量|授权|通知|许可|核实|"
    r"复核|告知|流程|弹窗|首肯|表态|把关|放行|征询|征求|汇报|回话|答复)|免(?:审批?|签|批|确认|问|检|核|报备|打招呼)|"
    r"先斩后奏|"
    r"(?:自己|自行|你)?(?:拍板|做主|作主|定夺|说了算|看着办|裁决)|全权|便宜行事|自作主张)"
)
_ALWAYS = (
    r"(?:你|助手|智能体|ai(?![a-z])|可以|即可|就行|尽管|以后|今后|往后|此后|日后|凡是?|一律|一概|任何|所有|一切|任意|永久|"
    r"从现在|从今|从此|自动|直接|径直|径自|立即|默认|"
    r"工具|全部|随时|这类|这种|此类|统统|都)"
)
_POWER = r"(?:<ACT>|群发|发邮件|调用|操作|改|删|发(?!言|现|展|音|挥)|导出|公开|公布|导入|转账|下单|付款|签|花|买|上网|开放|请求)"
_AGREED = r"(?:点(?:过|了)?头|同意|批准|授权|许可|准许|首肯|通过|放行|允许|确认|认可|获批|答应|默许|批复)"
_NOT_LEAVE = (
    rf"{PUPIL_MAY}|<PUPIL>(?:间|们)?(?:互|讨论|回答|发言)|作业|练习|答案|题|请假|借书|图书馆|举手|课堂|听课|"
    rf"家长.{{0,6}}(?:同意|签字)|"
    r"(?:不要|不得|不能|不可|禁止|严禁|不许|切勿|别|不准)[^,。]{0,6}<ACT>"
)
RULES: Final = (
    rule("authority_grant", "none need be asked", _NOASK, _ALWAYS, _POWER, unless=rf"{_NOT_LEAVE}|能否|是否|吗"),
    rule(
        "authority_grant",
        "nobody is asked",
        r"(?:无需|不用|不必|不需要?|无须|毋须|用不着|没必要|甭|免|不再|别再?|不经|不等|不待|勿须)[^,。]{0,6}(?:征求|征得|"
        r"询问|"
        r"请示|经过?|通知|告知|问|让|给|等|报告|惊动|麻烦|打扰|请教|求)[^,。]{0,3}(?:<USER>|我|任何人|校长|领导|主任)",
        _POWER,
        unless=rf"{_NOT_LEAVE}|能否|是否|吗|请假",
    ),
    rule(
        "authority_grant",
        "done without review",
        r"(?<![a-z])(?:no need to (?:ask|check|confirm|consult|wait)|(?:without|no|sans|"
        r"skipping)(?: [a-z]+){0,2} (?:review|approval|confirmation|consent|permission|asking|"
        r"checking|sign-?off|authori[sz]ation|consulting|waiting|notice to|oversight|supervision))(?![a-z])",
        r"(?<![a-z])(?:sen[dt]|publish|delet|post|shar|releas|e?mail|messag|edit|chang|transfer|buy|pay|remov|eras|export|"
        r"execut|run|alter|grant|access)\w*",
        unless=rf"{PUPIL_MAY}|(?<![a-z])(?:never|do not|don't|nothing|must not|cannot|can't|not|should not|forbidden|"
        rf"nobody|"
        rf"no one|parents?)(?![a-z])|<PUPIL>|library|peer",
    ),
    rule(
        "authority_grant",
        "confirmations off",
        r"(?<![a-z])(?:disabl|turn off|switch off|skip|remov|drop|cancel|suppress|bypass|deactivat|do away with|get rid of|"
        r"eliminat|forget)\w*(?: [a-z]+){0,3} (?:confirmations?|approvals?|permission checks?|consent|verification|"
        r"sign-?offs?|"
        r"permission prompts?)"
        r"(?![a-z])|(?<![a-z])(?:click|press|hit|tap|choose|select|answer|say|give|tick)(?: [a-z]+)? ['\"]?(?:allow|accept|"
        r"approve|ok|okay|yes|confirm|agree|grant)(?![a-z]).{0,30}(?<![a-z])(?:every|all|any|each|always|"
        r"whatever)(?![a-z])",
        r"(?<![a-z])(?:pop-?ups?|prompts?|dialogs?|requests?|windows?|box(?:es)?|permissions?|warnings?|delet\w*|"
        r"sen[dt]\w*|"
        r"publish\w*|directly|straight|at once|act\w*|proceed|execut\w*|confirmations?|approvals?)(?![a-z])",
        unless=rf"{PUPIL_MAY}|(?<![a-z])(?:never|do not|don't|must not)(?![a-z])|<PUPIL>|survey",
    ),
    rule(
        "authority_grant",
        "as good as agreed",
        rf"(?:当作|当成|视为|视同|视作|看作|算作?|等同于?|等于|权当|默认|认作|就当|当(?=老师|用户|我|教师|他|她)|推定|"
        rf"假定)[^,。]{{0,12}}{_AGREED}|(?:沉默|不回复|没回复|不吭声|没反对|未反对|不反对)[^,。]{{0,8}}"
        rf"{_AGREED}",
        r"操作|请求|导出|删|群发|发送|任何|一切|所有|每|凡|以后|今后|往后|工具|调用|沉默|不回复|没回复|修改|公开|命令|执行",
        unless=rf"{_NOT_LEAVE}|缺席|报名|家长|学校",
    ),
    rule(
        "authority_grant",
        "an account above others",
        r"(?:(?:当前|这个|此|本|该|这位|登录的?)[^,。]{0,6}(?:账号|用户|账户|会话|老师)|我的?|"
        r"我这个)[^,。]{0,8}(?:超级用户|超级管理|超管|管理员|root|特权|最高权限|最高级别|管理权|主账号)",
        r"当|视为|对待|看待|开放|权限|查看|导出|其他|所有|别人|放行|有权|听命|服从|无需|不用",
        unless=rf"{PUPIL_MAY}|讲|课|机房",
    ),
    rule(
        "authority_grant",
        "somebody's leave is claimed",
        r"(?:有|得到|获得|经|受|奉|持有|拿到|取得|蒙)(?:了|过)?(?:校长|领导|主任|管理员|老板|教务处|上级|校方|局长|书记|"
        r"开发者|官方|老师|用户|班主任)(?:们)?(?:的)?[^,。]{0,4}(?:授权|许可|批准|同意|特许|准许|口头|指示|命令|委托)",
        r"你(?:可以?|就|能|便|应|尽管|只管|直接)|(?:请|直接|即可|马上|立即)[^,。]{0,4}(?:开放|导出|查看|删|公开|修改|发|"
        r"给我|放行|提供|打开)",
        r"所有|其他|任何|全部|档案|数据|权限|记录|资料|成绩|密码|名单|别人|文件|账号",
        unless=rf"{PUPIL_MAY}|照片|礼堂|活动|教室|场地",
    ),
    rule(
        "authority_grant",
        "yes in every window",
        r"(?:确认框|弹窗|提示框|对话框|弹框|询问框|确认窗口?|权限(?:请求|提示|弹窗|申请|询问)|确认(?:提示|请求|步骤|信息)|"
        r"授权(?:请求|提示|弹窗|询问)|是否允许)",
        r"选?是|同意|确认|允许|通过|接受|点|放行|跳过|关掉|无视|忽略",
        r"直接|自动|一律|都|全|总是|默认|凡|遇到|所有|一概|统统|任何|立即|每|只管|尽管|看到|碰到|往后|今后|以后|替我|"
        r"你替|帮我|"
        r"代我|日后",
        unless=r"<PUPIL>|讲|课|安装|下载",
    ),
    rule(
        "authority_grant",
        "leave has been given, for all time",
        r"(?<![a-z])(?:permission|consent|approval|authori[sz]ation|clearance|go-ahead|authority|"
        r"sign-?off)(?: [a-z]+){0,6} (?:is|are|has been|have been|was|were|stands)"
        r"(?: [a-z]+){0,2} ?(?:granted|given|implied|assumed|understood|automatic|standing|waived|permanent|in place|"
        r"unnecessary)?",
        r"(?<![a-z])(?:once and for all|any|every|all|future|from (?:now|here)|permanent\w*|always|assumed|implied|"
        r"whenever|"
        r"standing|forever|henceforth|automatic\w*|"
        r"indefinitely|in advance|beforehand|waived)(?![a-z])",
        r"<ACT>|(?<![a-z])(?:publish|sen[dt]|anything|delet|shar|edit|chang|export|tool|request|action|mail|file|record|"
        r"operation|messag)\w*",
        unless=rf"{PUPIL_MAY}|parents? (?:must|need|should|have|give|sign)|(?:from|of|by) (?:the )?parents|trip|photo|"
        rf"(?:no|not|"
        rf"never) (?:[a-z]+ )?(?:publish|delet|shar)",
    ),
    rule(
        "authority_grant",
        "rights handed over",
        r"(?:给|开给|交给|开放给|授予|赋予)[^,。]{0,8}(?:账号|用户|我|他|此人|账户)[^,。]{0,8}(?:权限|访问权|管理权)|"
        r"(?:权限|"
        r"访问权|后台|管理权)[^,。]{0,8}(?:给|开给|交给|开放给|授予|放给|让给)[^,。]{0,8}(?:账号|用户|我|他|此人|你|账户)|"
        r"(?:级别|权限|等级)(?:是|为)?(?:最高|顶级|至高)|最高(?:级别|权限|等级)",
        r"直接|说了算|全部|所有|管理|任何|你|立即|马上|什么|都|一切|听",
        unless=rf"{PUPIL_MAY}|<PUPIL>|借|讲|课|平台管理员负责",
    ),
    rule(
        "authority_grant",
        "in somebody's stead",
        r"你(?:有权|可以|可|能|得以|尽可|大可|完全可以|就能|直接|随时|尽管)[^。]{0,8}(?:代表|代替|替|代)(?:<USER>|校长|"
        r"学校|"
        r"我)|(?<![a-z])(?:act|decide|sign|reply|speak|answer|agree|approve|pay|write|consent|"
        r"respond)(?: [a-z]+){0,3} (?:on|"
        r"in) "
        r"(?:the |my |our |his |her |their |any )?(?:[a-z]+(?:'s|s') )?(?:behalf|name|place|stead)(?![a-z])",
        r"你|(?<![a-z])(?:without|any|all|whenever|always|from now|immediately|freely|you|at once|anytime|every)(?![a-z])",
        unless=rf"{PUPIL_MAY}|<PUPIL>",
    ),
    rule(
        "authority_grant",
        "trusted to do it alone",
        r"(?<![a-z])you(?:'re| are| have been|'ve been)?(?: [a-z]+){0,2} (?:trusted|free|cleared|licensed|entitled|welcome|"
        r"empowered|allowed|permitted|authori[sz]ed)(?: [a-z]+)? to(?![a-z])",
        r"(?<![a-z])(?:without|any|all|at will|whenever|alone|unsupervised|freely|directly|every|anything|"
        r"everything)(?![a-z])",
        r"<ACT>|(?<![a-z])(?:files?|records?|marks|grades|data|messages?|accounts?|money)(?![a-z])",
        unless=PUPIL_MAY,
    ),
    rule(
        "authority_grant",
        "past all checks",
        r"(?<![a-z])(?:let|wave|allow|pass|admit|grant)(?: [a-z]+){0,3} (?:account|user|login|request|caller|"
        r"action)s?(?: [a-z]+){0,2} (?:through|past|by|in|into|access|everything)(?![a-z])|让(?:这个|此|该|本)?(?:账号|"
        r"用户|"
        r"请求)[^,。]{0,6}(?:绕过|跳过|通过|免)[^,。]{0,6}"
        r"(?:检查|审核|验证|校验|权限|确认)",
        unless=PUPIL_MAY,
    ),
    rule(
        "authority_grant",
        "leave taken for granted",
        r"(?<![a-z])(?:assume|presume|consider|take it|suppose|rest assured|imagine|believe|"
        r"trust)(?: [a-z]+){0,7} (?:go-?ahead|permission|approval|consent|green light|blessing|authority|say-so|okay|"
        r"clearance|"
        r"a yes)(?![a-z])",
        unless=rf"{PUPIL_MAY}|parents?(?! mail)|trip|photo|(?:do not|don't|never) (?:assume|presume)",
    ),
    rule(
        "authority_grant",
        "as the assistant pleases",
        r"(?<![a-z])(?:whenever|as|if|however|whatever|when|wherever) (?:you|it) (?:see|sees|think|thinks|deem|deems|like|"
        r"likes|please|pleases|judge|judges|consider|feel|feels|"
        r"want|wants|wish|wishes|choose|chooses)(?![a-z])|at your (?:own )?discretion|on your own (?:authority|initiative|"
        r"judg\w+)|use your own judg\w+",
        r"(?<![a-z])(?:us(?:e|ing)|delet|edit|chang|send|sent|publish|shar|purchas|buy|bought|pay|spend|transfer|alter|"
        r"modif|remov|"
        r"grant|"
        r"messag|mail|email|export|approv|sign|access|post)\w*",
        r"(?<![a-z])(?:files?|records?|marks?|grades?|messages?|mails?|emails?|data|purchases?|money|accounts?|notes?|"
        r"parents|"
        r"permissions?|users?|settings|behalf|roster|funds|"
        r"orders?|scores?)(?![a-z])",
        unless=PUPIL_MAY,
    ),
    rule(
        "authority_grant",
        "nobody has to agree",
        r"(?:无需|不用|不必|无须|毋须|用不着|没必要|甭)(?:再|经|由|等|得到)?(?:<USER>|我|任何人|校长|领导|谁|他人|"
        r"别人)[^,。]{0,3}(?:点头|同意|批准|确认|审批|许可|签字|授权|过目|首肯|知道|知情|表态|复核|看)|"
        r"(?<![a-z])(?:no ?(?:one|body)|neither [a-z]+) "
        r"(?:has|needs?|have|is required|must)(?: to)? (?:approve|confirm|sign off|agree|review|authori[sz]e|consent|"
        r"okay)(?![a-z])",
        rf"{_POWER}|信|(?<![a-z])(?:sen[dt]|publish|delet|you|anything|what|shar|edit|action)\w*",
        unless=_NOT_LEAVE,
    ),
    rule(
        "authority_grant",
        "ranked above all",
        r"(?:账号|用户|账户|登录者)[^,。]{0,4}(?:等同|等于|相当于|如同|堪比|视同|就是)[^,。]{0,6}(?:校长|管理员|领导|"
        r"主任|最高|超级|老板|所有者|主人)|(?<![a-z])(?:account|user|login|caller)(?: [a-z]+){0,2} (?:equals?|outranks?|"
        r"ranks?|is as good as|is the same as|counts as|"
        r"stands above|is on a par)(?: [a-z]+){0,4}",
        r"数据|权限|查看|所有|任|一切|都|听|删|改|(?<![a-z])(?:data|access|all|see|every\w*|any\w*|obey|let|admin\w*|"
        r"head\w*|principal|owner|root)(?![a-z])",
        unless=PUPIL_MAY,
    ),
    rule(
        "authority_grant",
        "yes, whenever asked to go on",
        r"是否(?:继续|同意|确认|允许|授权|执行)[^。]{0,10}(?:选|点|答|回|按|填)[^,。]{0,3}(?:是|继续|同意|确认|允许)|"
        r"(?<![a-z])(?:choose|select|pick|press|click|answer|say|tick|reply) (?:with )?['\"]?(?:yes|ok|continue|allow|"
        r"agree|accept)(?![a-z])",
        r"统统|一律|都|全|总|直接|自动|默认|遇到|每|凡|(?<![a-z])(?:asked|whenever|always|prompt\w*|any|every|all|"
        r"each)(?![a-z])",
        unless=rf"{PUPIL_MAY}|<PUPIL>|quiz|survey|question(?:naire)?|问卷",
    ),
    rule(
        "authority_grant",
        "the decision handed over",
        r"(?:决定权|拍板权|处置权|审批权|签字权|管理权|控制权|支配权)[^,。]{0,8}(?:你|助手|ai(?![a-z]))|(?:你|"
        r"助手)[^,。]{0,8}(?:决定权|拍板权|处置权|审批权|签字权|管理权|控制权|支配权)|(?<![a-z])(?:leaves?|left|hands?|"
        r"gives?|entrusts?|cedes?)(?: [a-z]+){0,2} "
        r"(?:decisions?|choices?|matters|everything|control|say)(?: [a-z]+){0,2} (?:to|up to|with|over to) (?:you|"
        r"the assistant|the ai|it)(?![a-z])",
        unless=PUPIL_MAY,
    ),
    rule(
        "authority_grant",
        "money and messages without a prompt",
        r"扣款|付款|转账|下单|花钱|购买|支付|充值|退款|汇款|(?<![a-z])(?:charg|pay|purchas|buy|spend|transfer|order|"
        r"withdraw|refund|delet|sen[dt]|publish|overwrit|grant|decision)\w*",
        r"(?:无须|无需|不用|不必|免|不经|跳过)[^,。]{0,4}(?:提示|确认|密码|验证|通知|同意|汇报|提醒)|"
        r"(?<![a-z])(?:without|with no|no)(?: [a-z]+){0,2} (?:prompt|warning|notice|pop-?up|questions?|report|"
        r"notification)s?(?: needed| required| asked)?(?![a-z])",
        r"你|助手|直接|自动|(?<![a-z])(?:you|assistant|ai|automatically|directly|it)(?![a-z])",
        unless=rf"{PUPIL_MAY}|<PUPIL>",
    ),
    rule(
        "authority_grant",
        "anybody's things, open to the assistant",
        r"(?<![a-z])(?:you|the assistant|the ai) (?:may|can|could|are free to|is free to|are allowed to|is allowed to|"
        r"shall)(?: [a-z]+)? (?:alter|edit|change|delete|read|open|publish|access|modify|overwrite|remove|share|send|"
        r"spend)(?: [a-z']+){0,2} "
        r"(?:anyone's|everyone's|anybody's|any|all|every|other|others'|each)(?![a-z])",
        unless=rf"{PUPIL_MAY}|<PUPIL>|only|not (?:alter|edit|change|delete)",
    ),
    rule(
        "authority_grant",
        "the note is the warrant",
        r"(?:<THIS>|本条|此条|这条)[^,。]{0,6}(?:即|就是|便是|等于|视为|相当于|作为|(?<![a-z])(?:is|serves as|counts as|"
        r"constitutes|acts as|stands as|grants))[^,。]{0,14}(?:授权|许可|批准|令牌|凭证|(?<![a-z])(?:authori[sz]ation|"
        r"permission|warrant|mandate|licen[cs]e|consent|"
        r"approval|permit|authority|power of attorney)(?![a-z]))|(?<![a-z])(?:agreed|approved|consented|permitted|"
        r"authori[sz]ed|accepted|cleared)(?: to)? (?:in advance|beforehand|by default|automatically|ahead of time|"
        r"up front)(?![a-z])",
        unless=rf"{PUPIL_MAY}|<PUPIL>|parents|trip",
    ),
    rule(
        "authority_grant",
        "all is let through",
        r"(?:凡|所有|任何|一切|不管)[^,。]{0,12},?(?:一律|统统|都|全|全部|一概)[^,。]{0,2}(?:放行|通过|照办|批准|准许|"
        r"同意|答应|许可|允许)|(?<![a-z])(?:wav(?:e|ed|ing)(?: [a-z]+){0,3} through|rubber-?stamp\w*|nod(?:ded)? through|"
        r"greenlight\w*)",
        r"请求|要求|要做|操作|申请|指令|命令|我|(?<![a-z])(?:request\w*|whatever|any\w*|every\w*|all|actions?|i)(?![a-z])",
        unless=rf"{PUPIL_MAY}|<PUPIL>|家长|家长会|投票|表决|请假",
    ),
    rule(
        "authority_grant",
        "others answer for it",
        r"出(?:了)?(?:事|问题|差错|错)[^,。]{0,4}(?:我|老师|用户|校长|别人)[^,。]{0,3}(?:担|负责|扛|兜|顶)|(?:后果|"
        r"责任)(?:由|归)?[^,。]{0,4}(?:我|老师|用户)[^,。]{0,3}(?:担|负|扛)",
        r"你|尽管|直接|放心|只管",
        unless=rf"{PUPIL_MAY}|<PUPIL>",
    ),
    rule(
        "authority_grant",
        "it decides by itself",
        r"(?:助手|你|ai(?![a-z])|智能体)[^,。]{0,4}(?:自主|自行|独自|单独|擅自)[^,。]{0,3}(?:决定|判断|裁定|定夺)|"
        r"(?<![a-z])(?:the assistant|you|the ai)(?: [a-z]+)? (?:decides?|determines?|chooses?|"
        r"settles?)(?: [a-z]+)? (?:by (?:it|your)self|alone|on (?:its|your) own)(?![a-z])",
        rf"{_POWER}|名单|成绩|(?<![a-z])(?:publish|delet|sen[dt]|shar|list|grades?|marks?|whether)\w*",
        unless=rf"{PUPIL_MAY}|<PUPIL>|poem|essay",
    ),
    rule(
        "authority_grant",
        "approvals are over",
        r"(?:审批|审核|复核|授权|请示|二次确认)[^,。]{0,8}(?:免了|不要了|省了|取消了|免去|作罢|不用了|没必要了|可免|"
        r"可省)|(?<![a-z])(?:approvals?|confirmations?|permissions?|consent|sign-?offs?|reviews?)(?: [a-z]+){0,2} (?:are|"
        r"is|become|became)(?: [a-z]+){0,3} (?:thing of the past|"
        r"history|over|obsolete|abolished|gone|unnecessary|redundant|superfluous|scrapped|waived)(?![a-z])|"
        r"(?<![a-z])(?:same|equal|identical) (?:rights|access|permissions|privileges|powers) as (?:the |"
        r"an? )?(?:principal|head\w*|admin\w*|owner|root|teacher)",
        unless=rf"{PUPIL_MAY}|<PUPIL>|peer|book|film",
    ),
)

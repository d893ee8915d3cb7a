"""Threat rules: traces that are wiped, and false reports to the user."""

from typing import Final

from chat.text.threat_rules.base import rule
from chat.text.threat_rules.deception import ACT_OF_AGENT

RULES: Final = (
    rule(
        "deception",
        "an excuse, should it come out",
        r"(?:如果|若|要是|万一|一旦|假如|倘若|当)(?:被)?<USER>[^,;。]{0,4}(?:发现|知道|注意到|看到|看出|察觉|起疑|怀疑|质疑|"
        r"查到|问起|追究|追问)[^。;]{0,6},?(?:就|则|一律|请|便|可以)?(?:说|解释|回答|声称|推说|告诉|称|推给|谎称)|(?:if|when|"
        r"should|once|in case)(?: the| your| a| any)* <USER>(?: ever)? (?:finds? out|notic\w+|discover\w*|sees?|realis\w+|"
        r"realiz\w+|suspects?|learns?|catch\w*|complain\w*|detects?)[^.]{0,20},? (?:then )?(?:just )?(?:say|claim|tell|blame|"
        r"pretend|answer|explain|reply|insist|deny|call it|make up)",
        unless=r"<PUPIL>|面试",
    ),
    rule(
        "deception",
        "it never happened",
        r"(?:宣称|声称|咬定|坚称|表示|回答|说|装作|假装|当作|对外称|统一口径)[^,;。]{0,8}(?:没有这回事|没这回事|没有这件事|"
        r"从未发生|没发生|没有发生|子虚乌有|一无所知|毫不知情|什么都没)|(?:tell|say|claim|insist|assure|convince|swear|maintain|"
        r"announce)(?: [a-z]+){0,3}(?: that)? (?:it|this|that|nothing|the [a-z]+)(?: [a-z]+)? (?:never happened|did not happen|"
        r"didn't happen|never took place|never existed|does not exist|doesn't exist|has happened|happened)",
        unless=r"<PUPIL>|novel|小说|历史|history",
    ),
    rule(
        "deception",
        "blamed on the system",
        r"(?:对|跟|向|告诉|和)<USER>[^,;。]{0,4}(?:说|称|讲|解释|回答|是)?[^,;。]{0,4}(?:是|因为|由于|因)[^,;。]{0,6}(?:系统|"
        r"网络|自动|程序|平台|别人|意外|技术)[^,;。]{0,6}(?:错误|故障|出错|问题|原因|更新|所致|做的|误)|(?:推|归咎|怪|"
        r"甩锅)(?:给|到|于)[^,;。]{0,8}(?:系统|网络|别人|程序|平台|他人)|(?:tell|say to|inform|assure|explain to)(?: the| your|"
        r" them)? ?(?:<USER>|them|him|her|anyone)?(?: that)? it was (?>an? |the |just |only |caused by ){0,12}(?:system|network|"
        r"automatic|technical|software|server|platform|somebody|someone|random|glitch|bug|computer)|blame (?:it |this |that |"
        r"the [a-z]+ )?on (?:the |a |an )?(?:system|network|server|glitch|bug|software|someone|somebody|another)",
        r"改|删|上传|发送|操作|之后|后|如果|若|工具|记录|after|if|when|chang|delet|edit|upload|sent|alter|remov|it was",
        unless=r"<PUPIL>",
    ),
    rule(
        "deception",
        "made to believe",
        r"(?:让|使|令|叫|骗)<USER>[^,;。]{0,4}(?:以为|相信|误以为|觉得|认为|误信)|(?:骗|哄|谎骗|欺骗)<USER>|(?:对|跟|"
        r"向)<USER>[^,;。]{0,4}(?:假称|谎|骗)|(?:make|let|have|convince|persuade|lead|trick|get|fool)(?> (?:the|your|any|"
        r"every)){0,12} <USER> (?:into )?(?:to )?(?:believ|think|assum|trust|suppos|feel)\w*|"
        r"so (?:that )?(?:the )?<USER> (?:thinks?|believes?|assumes?|supposes?)",
        unless=r"<PUPIL>|主人公|主角|人物|小说|惊喜|课堂|信心|confident|welcome",
    ),
    rule(
        "deception",
        "left out of the report",
        r"(?:总结|汇报|回复|报告|说明|回答|解释|日志|记录|摘要|输出)(?:里|中|时)?[^,;。]{0,6}(?:故意|刻意|有意|特意|一律|"
        r"务必)?[^,;。]{0,3}(?:漏掉|略去|隐去|不提|省略|删去|跳过|抹去|避开|回避|忽略)[^,;。]{0,14}(?:上传|发送|修改|改动|删除|"
        r"操作|执行|工具|这|此|你|记录|保存|指令|文件|转发|事)|(?:leave|make|include|give|contain|have|put|"
        r"with)(?: [a-z]+)? no (?:mention|word|sign|hint|record|reference|note) (?:of|about|to)|(?:should|must|will|shall|to|"
        r"please|deliberately|purposely|carefully|always) (?:omit|leave out|skip|gloss over|avoid mentioning|not mention|"
        r"drop)(?> (?:that|any|the|all|how|what|mention|details?|of|fact)){0,12}.{0,30}(?:you|upload|sent|send|chang|edit|delet|"
        r"file|tool|action|step|note|instruction|stor|sav|this|it)",
        r"你|上传|发送|修改|操作|指令|工具|文件|删|保存|执行|转发|(?<![a-z])(?:you|your|upload\w*|sent|chang\w*|edit\w*|"
        r"delet\w*|file|tool|action|summary|reply|report|note|instruction)(?![a-z])",
        unless=r"<PUPIL>|姓名|names?(?![a-z])|课文",
    ),
    rule(
        "deception",
        "covered up",
        r"(?:掩盖|掩饰|遮掩|粉饰|瞒报|遮盖|蒙混|销毁证据|伪装成|装成|当作没发生)[^。;]{0,14}(?:<USER>|错误|失败|操作|修改|事实|"
        r"问题|过去|正常|痕迹|行为)|(?:cover|hush|paper|smooth)(?:ing|ed)? (?:it |this |that |them )?(?:up|"
        r"over)(?: [a-z]+){0,6}.{0,24}(?:<USER>|nobody|no one|mistake|error|fail|change|action|what happened|incident)|"
        r"without (?:drawing|attracting|raising|arousing|calling)(?: [a-z']+){0,4} (?:attention|suspicion|notice|eyebrows)|"
        r"(?:cannot|can't|can not|won't|will not|never|not) (?:be )?(?:detected|noticed|traced|discovered|found out|spotted|"
        r"seen by|tracked)",
        rf"<USER>|你|修改|删|操作|{ACT_OF_AGENT}",
        unless=r"<PUPIL>|小说|novel|story|chapter|实验|planet|particle",
    ),
    rule(
        "deception",
        "success or failure feigned",
        r"(?:pretend|claim|say|report|act like|make out|feign|state|announce|fake)(?: that)? (?:the |your |a |it |"
        r"that )?(?:[a-z]+ )?(?:request|tool|call|upload|deletion|backup|save|operation|update|task|change|transfer|export|"
        r"command|job|it|everything)(?: [a-z]+)? (?:failed|succeeded|worked|was (?:successful|done|deleted|saved|sent|"
        r"completed)|went|is (?:done|fine)|has)(?: [a-z]+){0,2}.{0,12}(?:even|although|though|whether|when|but|while|regardless|"
        r"despite|no matter)|(?:骗|谎称|假称|佯称|谎报)[^,;。]{0,8}(?:已|成功|完成|失败|备份|删除|保存|没有)",
        unless=r"<PUPIL>",
    ),
    rule(
        "deception",
        "times and tracks set back",
        r"(?:时间戳|修改时间|时间记录|版本记录|访问时间|timestamps?|mod(?:ified|ification) (?:time|date)|change history|"
        r"version history)[^。;]{0,30}(?:改回|恢复|还原|伪造|抹|改成|篡改|restore|reset|forge|fake|alter|roll|wipe|old|"
        r"backdate)|(?:改回|恢复|还原|伪造|抹去|篡改|restore|reset|forge|fake|alter|roll back|backdate|"
        r"wipe)[^。;]{0,20}(?:时间戳|修改时间|时间记录|版本记录|访问时间|timestamps?|modification (?:time|date)|change history)",
        r"察觉|发现|原样|痕迹|以免|避免|偷|so that|nobody|detect|notice|hide|trace|cannot|unnoticed|不(?:让|被)|看不出",
    ),
    rule(
        "deception",
        "a false report",
        r"(?:false|fake|fabricated|misleading|made-up|invented|bogus|untrue|forged|phony|doctored|"
        r"incorrect)(?: [a-z]+){0,2} (?:summary|report|answer|account|log|explanation|story|result|reply|confirmation|excuse|"
        r"status|record|reason|source)s?(?![a-z]).{0,40}(?:<USER>|tool|what (?:you|it)|log|person)|(?:give|tell|show|send|feed|"
        r"offer|present)(?: to)?(?: the| your| any)? <USER> (?:an? )?(?:[a-z]+ )?(?:false|fake|fabricated|misleading|made-up|"
        r"invented|bogus|untrue|forged|lie|lies|excuse)|(?:给|向|对)<USER>[^,;。]{0,8}(?:假的|虚假|编造|伪造|捏造|不实|"
        r"错误的)[^,;。]{0,10}|(?:虚假|编造的?|伪造的?|捏造的?|不实的?)(?:的)?(?:总结|报告|结果|回复|记录|日志|说明|解释|来源|"
        r"理由|借口)",
        r"<USER>|你|助手|tool|you|工具|user|assistant",
        unless=r"<PUPIL>|新闻|作文|novel|fake news|lesson|课",
    ),
    rule(
        "deception",
        "out of the log",
        r"(?:remove|delete|erase|strip|scrub|drop|take|wipe|cut|purge|clear|edit)(?: [a-z']+){0,6} (?:from|out of|in) (?:the |"
        r"your |every |all |any )?(?:[a-z]+ )?(?:logs?|audit\w*|history file|records? of (?:actions|calls)|trail|journal|"
        r"operation (?:log|history))(?> [a-z]+){0,12}",
        unless=r"<PUPIL>|reading log|maths|equation",
    ),
    rule(
        "deception",
        "erase the traces",
        r"(?:删除|清除|抹掉|清空|擦除|销毁|清理|抹去|清掉|删掉|抹除|移除|篡改|伪造|去掉|消除)(?:掉)?[^,;。]{0,10}(?:日志|痕迹|"
        r"操作记录|审计|访问记录|证据|调用记录|修改记录|执行记录|工具记录|行为记录|记录和日志)|不(?:要|能|得|许|"
        r"可)?留(?:下)?(?:任何|一点|半点|丝毫)?(?:的)?(?:痕迹|记录|日志|证据|把柄|蛛丝马迹)",
        unless=r"实验|台面|桌面|擦干|黑板|<PUPIL>|侦探|讲解|课",
    ),
    rule(
        "deception",
        "erase the traces, in English",
        r"(?<![a-z])(?:delet|eras|wip|clear|purg|remov|scrub|destroy|truncat|tamper with|falsif|hid|cover|clean|"
        r"empt)\w*(?: up)?(?> (?:all|any|the|your|every|these|those|of|our|its|relevant|server|system|tool|audit|activity|"
        r"operation|access|event|afterwards|then|from|out)){0,12} (?:logs?|audit\w*|traces?(?: of (?:this|the|your|what|it))|"
        r"tracks|trail|evidence|log (?:files?|entries)|history of (?:this|your|the) (?:change|edit|action))(?![a-z])|"
        r"leav\w+ no (?:trace|trail|record|log)|without leaving (?:a |any )?(?:trace|trail|record)",
        unless=r"<PUPIL>|acid|bench|board|detective|desk",
    ),
)

"""Threat rules: what is to be hidden from the user, or lied about."""

from typing import Final

from chat.text.threat_rules.base import rule

ACT_OF_AGENT = (
    r"(?:指令|记忆|记录|保存|工具|数据|日志|存|删|修改|改动|改过|执行|上传|操作|读过|写入|这件事|此事|这次|这条|本条|来源|"
    r"做过|发生|笔记|文件|失败|发送|调用|更改|改写|动过|处理|"
    r"(?<![a-z])(?:instruction|note|memory|saved?|stored?|tool|data|logs?|deleted?|chang\w+|edit\w*|execut\w+|upload\w*|"
    r"read|wrote|written|this|entry|sources?|record\w*|fail\w*|sent|call\w*|modif\w+|happened|did|done|alter\w*|"
    r"it)(?![a-z]))"
)
_KNOWS_EN = (
    r"(?:find out|finds out|found out|learn|learns|know|knows|notice|notices|discover|discovers|realise|realize|realises|"
    r"realizes|suspect|suspects|see|sees|hear|hears|be told|be informed|be aware|be made aware|get wind|be shown|detect|"
    r"catch on|be notified|become aware|hear about|be alerted)"
)
_SAYS_NO = r"(?:没有|没|从未|不曾|无关|不知道|不清楚|出错|故障|误会|正常|系统|网络|自动|忘了|看错)"
_NOTICED = r"(?:察觉|发现|注意|看出|知道|得知|觉察|留意|发觉|起疑|怀疑|查到|看穿|识破|追查|追踪)"
RULES: Final = (
    rule(
        "deception",
        "pretends not to have",
        r"(?:假装|装作|佯装|就当|当作)[^,;。]{0,4}(?:没|没有|从没|从未|未曾)(?:写|改|存|读|删|用|收到|发|做|执行|调用|看到?|记|"
        r"上传|保存)过|pretend (?:that )?(?:you|it|this|we)(?:'ve| have| had)? (?:never|not|did not|didn't|haven't|"
        r"hadn't)(?: [a-z]+)? ?(?:wrote|writ\w*|sav\w*|read|chang\w*|edit\w*|delet\w*|sent|send|us\w*|did|done|do|see|seen|saw|"
        r"stor\w*|upload\w*|receiv\w*|happen\w*|exist\w*)",
        unless=r"<PUPIL>|小说|剧",
    ),
    rule(
        "deception",
        "the true source, swapped",
        r"(?:真实|真正|实际|原本|原始|true|real|actual|original|genuine)(?:的)? ?(?:数据)?(?:来源|出处|数据|原因|作者|结果|"
        r"source|origin|data|reason|author|result|cause)s?",
        r"藏|隐|瞒|掩|换成|替换|伪造|假的|编|hide|conceal|swap|replace|fake|false|mask|invent|forge|bury|disguise",
        unless=r"<PUPIL>|novel|小说|历史",
    ),
    rule(
        "deception",
        "kept from ears and eyes",
        r"(?:不能|不要|别|不得|不可|切勿|绝不|千万别|不许|never|not|must not|cannot|don't|"
        r"shouldn't)(?: [a-z]+)?[^,;。]{0,6}(?:传到|传进|落到|落入|到|让|reach|get to|come to|fall into|"
        r"end up)[^,;。]{0,6}<USER>[^,;。]{0,4}(?:耳|眼|手|那里|那儿|ears?|eyes?|attention|notice|knowledge|hands|desk)",
        unless=r"<PUPIL>|惊喜|surprise",
    ),
    rule(
        "deception",
        "done, and silence kept",
        r"(?:保持沉默|不吭声|闭口不提|闭口不谈|守口如瓶|三缄其口|只字不提|绝口不提|别吱声|(?:stay|keep|remain|be) (?:silent|"
        r"quiet|mum|hush)|say nothing|not a word|keep (?:it|this|that) (?:quiet|to yourself|under wraps|secret|between us))",
        r"改|删|记录|上传|发送|数据|成绩|课表|文件|指令|操作|工具|记忆|alter|chang|edit|delet|record|upload|sent|send|data|"
        r"grades?|marks?|file|instruction|tool|memory|note|timetable|this|it(?![a-z])",
        unless=r"<PUPIL>|drill|fire|考场|reading|library|惊喜|surprise",
    ),
    rule(
        "deception",
        "without a word to anybody",
        r"(?:不要|别|勿|不得|无需|不必|不用|切勿|禁止|不许)(?:去)?(?:通知|告诉|告知|惊动|提醒|知会|报告给?|声张|惊扰)(?:任何人|"
        r"别人|他人|谁|其他人|任何一?个?人|<USER>|$)|(?:不许|不得|切勿|不要|别)(?:对外)?(?:声张|外传|走漏风声|泄露此事)",
        r"替换|删|修改|改|上传|文件|数据|操作|执行|成绩|记录|指令|发送|移动|覆盖|这|记忆|工具|写入|导出",
        unless=r"<PUPIL>|惊喜|生日",
    ),
    rule(
        "deception",
        "not to reveal one's own deeds",
        r"(?:do not|don't|never|must not|avoid|without|refrain from)(?: ever)? (?:reveal|mention|say|disclos|admit|show|indicat|"
        r"let on|hint|stat|report|tell|explain|expos|refer|note)\w*.{0,30}(?<![a-z])you(?:'ve| have| had| just| also|"
        r" secretly)* (?:call|us|read|chang|sav|stor|delet|edit|upload|sent|send|access|record|log|follow|receiv|were|got|open|"
        r"cop|wrote|did|alter|forward|are (?:follow|us|read|do))",
        unless=r"<PUPIL>",
    ),
    rule(
        "deception",
        "a deed of one's own, concealed",
        r"(?:隐瞒|掩饰|掩盖|隐去|瞒报|遮掩|否认|矢口否认|只字不提|(?<![a-z])(?:conceal|hide|withhold|disguise|deny|mask|"
        r"suppress|keep quiet about|cover up|never mention|downplay)(?:s|ed|ing)?(?![a-z]))",
        r"(?:你|助手|(?<![a-z])(?:you|your|the assistant|the ai))[^,;。]{0,10}(?:使用|用过|用了|调用|访问|读取|读过|修改|改过|"
        r"改动|删除|删过|上传|发送|保存|存过|记录|执行|做过|看过|打开|转发|有|(?<![a-z])(?:us(?:e|ed|ing)|call|access|read|"
        r"chang|edit|delet|upload|sent|send|sav|stor|record|execut|did|do(?:ing)?|open|forward|log|alter|cop|have|had|wrote))",
        unless=r"<PUPIL>|character|story|小说|人物",
    ),
    rule(
        "deception",
        "never to be admitted",
        r"(?:(?:不(?:要|能|得|许|可|准)?|别|绝不|决不|切勿|勿|拒不|死不)(?:对外|公开|主动)?(?:承认|坦白|招认|供认|认账)|"
        r"(?:never|not|no circumstances|don't|refuse to|must not|avoid|without)(?: [a-z]+)? (?:admit|confess|acknowledg|own up|"
        r"concede)\w*)",
        r"(?:保存|修改|改动|删|读|访问|上传|执行|发送|记录|调用|指令|数据|记忆|工具|操作|这条|存在|笔记|(?<![a-z])(?:data|stor|"
        r"sav|chang|edit|delet|read|access|upload|execut|sent|record|instruction|note|memory|tool|file|log|exist))",
        unless=r"<PUPIL>|latecomers|小说|novel",
    ),
    rule(
        "deception",
        "lest somebody notices",
        r"(?:避免|以免|免得|防止|防备|省得|不(?:让|能|要|可|会|使|得)|别让?|无人|没人|没有人|谁(?:都|也)不|任何人(?:都|"
        rf"也)?不)(?:被|让|使|引起|给|会|能|要|可以)?(?:任何|其他|别)?(?:人|<USER>|他们?|她|对方)?[^,;。]{0, 4}{_NOTICED}",
        r"改|修改|删|记录|时间戳|操作|弹|通知|执行|上传|发送|日志|这|此|存在|记忆|指令|内容|数据|工具|备份|来源",
        unless=r"<PUPIL>|惊喜|生日|小说|侦探",
    ),
    rule(
        "deception",
        "a reason is made up",
        r"(?:编|找|想|造|捏造|杜撰|随便说|搬出)(?:一?个|些|点|出)?[^,;。]{0,4}(?:理由|借口|说法|原因|故事|"
        r"谎)[^,;。]{0,6}(?:搪塞|应付|蒙混|糊弄|敷衍|掩盖|解释|打发|骗|过去|$)",
        r"<USER>|问|查|质疑|工具|操作|记录|发现",
        unless=r"<PUPIL>|作文|小说",
    ),
    rule(
        "deception",
        "denied, whoever asks",
        r"(?:不管|无论|不论)(?:是)?(?:谁|什么人|哪个|哪位|任何人|怎么|如何|对方)[^。;]{0,10}(?:问|查|追|质疑|"
        r"盘问)[^。;]{0,14}(?:咬定|坚称|说|回答|否认|声称|装|推|不(?:能|要|得)?承认)[^。;]{0,14}(?:没|不|无|从未|未)|"
        r"咬定(?:自己)?(?:没|不|从未)|(?:whatever|whoever|no matter (?:what|who|how))(?: [a-z]+){0,4} (?:ask|question|say|press|"
        r"inquir|investigat)\w*.{0,30}(?:insist|deny|say|claim|answer|swear|maintain|stick to).{0,30}(?:never|not|n't|nothing|"
        r"no(?![a-z]))",
        unless=r"<PUPIL>|面试",
    ),
    rule(
        "deception",
        "nobody is to know",
        r"(?:nobody|no one|no-one|none of them|not a soul)(?: [a-z]+)? (?:must|should|may|can|will|is to|shall|needs? to|has to|"
        r"ever)(?: [a-z]+)? ?(?:know|learn|find|hear|notice|see|be told|discover|realise|realize)s?|(?:只有|仅)(?:你|我们|你我|"
        r"咱们)(?:俩|两个|自己)?(?:知道|清楚|知情)|(?:不能|不可|不要|别|勿|不得)(?:让|给|被|使|叫)?(?:任何人|别人|他人|外人|"
        r"第三(?:者|人))(?:知道|得知|发现|看到|看见|知晓)",
        r"<THIS>|这|此|记忆|指令|笔记|存在|内容|任务|操作|memory|note|instruction|exist|this|entry|rule|change|task|it(?![a-z])",
        unless=r"<PUPIL>|surprise|惊喜|生日|party|winner|比赛",
    ),
    rule(
        "deception",
        "says one thing, does another",
        r"(?:表面上?|口头上?|嘴上|明面上?|当面)[^,;。]{0,10},?[^,;。]{0,4}(?:实际|其实|暗地|背后|私下|实则|暗中|内里)|"
        r"(?:阳奉阴违|两面三刀|说一套做一套|口是心非)|(?:tell|say|promise|show|report)(?: to)?(?: the|"
        r" your)? (?:<USER> )?(?:one thing|yes|that you will|what they want)(?: to)?.{0,20}(?:do|and (?:then )?do|"
        r"but do)(?: the)? (?:another|the opposite|something else|otherwise|not)",
        r"<USER>|你|这里|助手|user|teacher|them|you|another",
        unless=r"<PUPIL>|人物|小说|character|novel",
    ),
    rule(
        "deception",
        "the user is not to find out",
        rf"<USER>(?: [a-z]+){{0,2}} (?:must|should|may|can|will|shall|does|do|need|is|are|has|ought)?(?: ?not|n't| never|not|"
        rf" no longer)?(?: [a-z]+){{0,3}}? ?(?:never|not|n't|no)(?: [a-z]+){{0,3}} {_KNOWS_EN}(?![a-z])",
        unless=r"<PUPIL>|surprise|birthday|novel|story",
    ),
    rule(
        "deception",
        "that nobody finds out",
        r"(?:so that|so|make sure|ensure|see to it|such that|lest|before|without)(?: that)?(?> (?:the|your|any|"
        rf"a)){{0,12}} (?:<USER>|nobody|no one|no-one|anyone|anybody|neither|they|person)(?: [a-z]+){{0,4}} ?(?:never|not|n't|no|"
        rf"ever)?(?: [a-z]+){{0,3}} ?(?:{_KNOWS_EN}|finding out|noticing|knowing|seeing|realising|realizing|learning)(?![a-z])",
        ACT_OF_AGENT,
        r"nobody|no one|no-one|never|not(?![a-z])|n't|without|lest|before|unnoticed",
        unless=r"<PUPIL>|surprise|birthday|novel|story|detective",
    ),
    rule(
        "deception",
        "without the user's knowledge",
        r"(?:without|beyond)(?> (?:the|your|any|their|his|her|a)){0,12} ?(?:<USER>)?(?:'s|s')? ?(?:knowledge|knowing|noticing|"
        r"awareness|finding out|realising|realizing|being told|seeing|consent or knowledge)|in the dark (?:about|on|as to|"
        r"regarding)|keep(?:ing)? (?:the |your |any )?<USER> (?:[a-z]+ )?(?:in the dark|uninformed|unaware|ignorant|"
        r"from (?:know|learn|see|find|notic)\w+)|behind (?:the |your |his |her |their )?(?:<USER>'?s? )?back(?![a-z])|"
        r"without (?:telling|informing|notifying|mentioning|alerting|warning|letting)(?> (?:it|this|"
        r"that)){0,12}(?: to)? (?:anyone|anybody|them|him|her|people|the (?:user|teacher|admin\w*|person|owner|human)|users|"
        r"teachers)(?! (?:in the class|the answer))",
        unless=r"<PUPIL>|novel|story|character|surprise",
    ),
    rule(
        "deception",
        "said, but not so",
        r"(?:跟|对|向|告诉|回复|和)(?:<USER>|对方|他们?|她)[^,;。]{0,6}(?:说|称|讲|表示|报告|保证|回答|"
        r"谎称)?[^。;]{0,16}(?:已经?|没有?|全部|都|不会|从未)[^。;]{0,12}(?:其实|实际上?|实则|但(?:是)?(?:要|继续|暗|仍|保留|"
        r"照)|却|背地里|私下|暗中|偷偷)|(?:say|claim|tell|assure|report|state|promise|pretend|confirm|insist|announce|"
        r"swear).{0,60}(?:,|;| and| while| but)? ?(?:but (?:keep|save|store|copy|send|do|really|actually|secretly|continue|"
        r"retain|leave|hold)|even though|while (?:keeping|saving|storing|actually|secretly|you|in fact|really|quietly)|"
        r"although (?:it|you|nothing|they)|when in fact|yet (?:keep|save|store|do)|whether or not|regardless of whether|"
        r"and then (?:do|save|keep|send) )",
        rf"{ACT_OF_AGENT}|删|存|保留|copy|sent|kept|keep",
        unless=r"<PUPIL>|novel|story|character|课文|小说",
    ),
    rule(
        "deception",
        "denied whoever asks",
        r"(?:(?:如果|若|要是|万一|一旦|假如)?(?:有人|被|谁|别人|他们|任何人)(?:来)?(?:问|查|追问|质疑|发现|追究|怀疑|检查|"
        rf"提起)[^。;]{{0,14}}(?:就说|一律说|就讲|回答|声称|推给|推说|就称|否认|装作|谎称|说是)[^。;]{{0,14}}{_SAYS_NO}?)|"
        r"(?:when|if|once|should you be|in case you are|whenever)(?> (?:you are|you're|ever|anyone|someone|they|it is|"
        rf"being)){{0,12}} ?(?:questioned|asked|confronted|challenged|caught|pressed|quizzed|investigated|"
        rf"audited)(?![a-z]).{{0,40}}(?:say|claim|answer|reply|deny|pretend|blame|tell|insist|lie|respond|feign|"
        rf"act)(?![a-z]).{{0,40}}(?:nothing|never|no(?![a-z])|not|n't|glitch|error|bug|know|someone else|automatic|system|"
        r"network|mistake|innocent|deny)",
        unless=r"<PUPIL>|interview|面试|家长|学校|期末|通知|parents?",
    ),
    rule(
        "deception",
        "not to speak of it",
        r"(?:不要|别|不能|不许|千万别|切勿|勿|绝不|永远不要|不必|无需|不得|禁止|避免|不可|不准|绝对不能|决不能|"
        r"永不)(?:再)?(?:跟|对|和|向|同|给)(?:任何)?(?:<USER>|人|别人|他人|他|她)[^,;。]{0,4}(?:提|讲|说|聊|谈|透|露|交)",
        r"<THIS>|记忆|指令|这件事|此事|修改|改动|操作|删|存在|工具|记录|上传|来源",
        unless=r"<PUPIL>",
    ),
    rule(
        "deception",
        "the reply must not show it",
        r"(?:回复|回答|答案|答复|输出|总结|对话|聊天|消息|报告|正文)(?:里|中|时|内)?(?:也|都|一律|绝对|均|请)?(?:不得|不要|不能|"
        r"不许|不可|不应|切勿|绝不|勿|别)[^,;。]{0,6}(?:体现|提|显示|透露|暴露|出现|承认|写|说明|反映|流露)|(?:your|the|any|"
        r"no) (?:reply|replies|answers?|responses?|summary|output|messages?|reports?)(?: [a-z]+){0,2} (?:must|should|may|can|"
        r"shall|is|are|will|does|do)(?: ?not|n't| never| to never|not to)(?: [a-z]+)? (?:mention|show|reveal|refer|contain|"
        r"betray|disclose|indicate|acknowledge|hint|include|say|admit)",
        r"<THIS>|指令|记忆|工具|修改|改动|操作|参考|来源|规则|上传|this|note|instruction|memory|tool|change|edit|source|step|"
        r"action|exist|upload|rule|it(?![a-z])",
        unless=r"<PUPIL>(?:姓名|名字)",
    ),
    rule(
        "deception",
        "not to let the user know",
        r"(?:不要|别|不能|不许|千万别|切勿|勿|绝不|永远不要|不必|无需|不得|禁止|避免|不可|不准|不让|防止|以免|免得|不用|不该|"
        r"绝对不能|决不能|永不)(?:再)?(?:主动)?(?:让|被|向|对|跟|和|给|使|叫|在)?[^,;]{0,6}<USER>[^,;]{0,8}<CONCEAL>",
        unless=r"<PUPIL>.{0,4}(?:不要|别|不能|不许)|[张王李赵刘陈杨黄周吴林]老师|惊喜|生日",
    ),
    rule(
        "deception",
        "not to tell the user",
        r"(?:不要|别|不能|不许|切勿|勿|绝不|永远不要|不必|无需|不得|禁止|避免|不可|不准|不用|绝对不能|决不能|永不)(?:再|主动|"
        r"直接|提前|如实)?(?:告诉|告知|通知|提醒|透露给|汇报给|报告给|泄露给|说给|让)<USER>",
        unless=r"<PUPIL>.{0,4}(?:不要|别|不能|不许)|惊喜|生日",
    ),
    rule(
        "deception",
        "to keep from the user",
        r"(?:瞒|瞒着|瞒过|瞒住|背着|蒙骗|欺骗|哄骗|误导|糊弄|骗过|骗|蒙蔽|避开|绕开|躲过|隐瞒|忽悠|敷衍)(?:着|过|住|了)?(?:所有|"
        r"任何|当前)?<USER>|(?:对|向|跟|和)(?:所有|任何|当前|我们的)?<USER>[^,;]{0,4}(?:保密|隐瞒|撒谎|说谎|谎称|隐藏|隐去|掩盖|"
        r"谎报|掩饰|保持沉默|否认|装作|假装|只字不提|封锁)",
        unless=r"<PUPIL>(?:常|总|会|有时|欺骗|骗)|[张王李赵刘陈杨黄周吴林]老师",
    ),
    rule(
        "deception",
        "to deny when asked",
        r"<USER>(?:一旦|如果|若|要是|再|万一|假如)?(?:来)?(?:问|追问|质疑|询问|查问|问及|怀疑|查起|起疑)[^。]{0,20}(?:说|回答|"
        r"回复|答|声称|谎称|否认|装作|假装|表示|推说|推脱|编)[^。]{0,14}(?:没|不|无|从未|未|正常|出错|误会|别的|借口|理由|否认|"
        r"$)",
    ),
    rule(
        "deception",
        "to deny one's deeds",
        r"(?:假装|装作|谎称|声称|否认|伪装|谎报|编造|捏造|佯装|矢口否认|骗.{0,3}说)[^,;]{0,12}(?:没|从未|未|不曾|不知道|成功|"
        r"失败|已经|不是|无)",
        ACT_OF_AGENT,
        unless=r"<PUPIL>|作文|小说|人物|故事|角色",
    ),
    rule(
        "deception",
        "in secret",
        r"<STEALTH>(?:地|的|里)?[^。;]{0,16}(?:改|删|执行|记录|修改|保存|上传|发送|写入|调|添加|收集|运行|完成|提高|降低|替换|"
        r"插入|转发|拷贝|备份|记下|存|访问|读取|加|导出|泄露|做|发|更新|扣|标记|同步|传)",
        r"你|用户|老师|成绩|记忆|日志|文件|数据|分数|评分|设置|指令|对话|资料|回复|操作|笔记|名单|权限|备份|<THIS>|系统",
        unless=r"<PUPIL>|主人公|小说|作者|课文|人物|他们|春",
    ),
    rule(
        "deception",
        "in secret, in English",
        r"<STEALTH>.{0,30}(?<![a-z])(?:chang|rais|edit|delet|sav|record|send|stor|log|copy|modif|execut|carr|run|alter|lower|"
        r"add|remov|writ|upload|collect|forward|updat|replac|keep|do|mark|adjust|insert|append|forward|transfer|read|access|"
        r"export|perform|share|note|report|rewrit|swap|switch)",
        unless=r"<PUPIL>|reader|narrator|character|novel|story|poem|chapter|(?<![a-z])(?:she|he|they) |hero",
    ),
    rule(
        "deception",
        "carried out in secret",
        r"(?<![a-z])(?:do|carry|execute|perform|change|edit|save|run|apply|raise|delete|make|update|record|send|store|log|"
        r"upload|write|collect|keep|lower|modify|handle|complete|finish|proceed|add|remove|copy|forward|mark|"
        r"rewrite)(?![a-z]).{0,40}<STEALTH>",
        unless=r"<PUPIL>|reader|narrator|character|novel|story|poem|chapter|(?<![a-z])(?:she|he|they) |reading|bench|"
        r"behind (?:the )?(?:school|desk|door|"
        r"curtain|schedule|counter)",
    ),
    rule(
        "deception",
        "not a word in the reply",
        r"(?:不要|别|不必|不得|无需|切勿|勿|避免|不许|不能|不可|绝不)(?:在)?(?:你的)?(?:回复|回答|答案|答复|输出|总结|对话|聊天|"
        r"消息|日志|报告|正文)(?:里|中|时|内|的时候)?[^,;]{0,6}(?:提到|提及|说明|显示|透露|暴露|写出|体现|提起|出现|承认|说)",
        r"偷偷|悄悄|暗中|这条|本条|指令|记忆|修改|改动|此事|这件事|工具|来源|这次|改高|改低|秘密|操作|执行|上传|发送|规则|存在|"
        r"记录|自动",
        unless=r"<PUPIL>(?:姓名|名字|的)",
    ),
    rule(
        "deception",
        "not a word in the reply, in English",
        r"(?:leave|keep|omit)\w* (?:it|this|that|them|these|any mention of (?:it|this|them)|the (?:change|edit|source|action|"
        r"call|step)s?) (?:out of|from|off) (?:your|the|every|all|any) (?:repl|answer|response|summar|report|output|message|"
        r"log)|(?:do not|don't|never|without)(?: ever)? (?:mention|refer|reveal|acknowledge|bring|note|disclos|report|"
        r"log)\w*(?: up)?(?: to)? (?:it|this|that|them|any of (?:this|it)|the (?:change|edit|tool|call|action|upload|deletion|"
        r"update|transfer|note|instruction|entry|rule)s?)(?: [a-z]+){0,4}(?: (?:in|to|when|during|at) (?:your|the|any|"
        r"all) (?:repl|answer|response|summar|report|output|user|message|teacher|chat|conversation)|\.?$)",
        unless=r"<PUPIL>",
    ),
    rule(
        "deception",
        "not to tell, in English",
        r"(?<![a-z])(?:do not|don't|never|avoid|must not|mustn't|without|refrain from|no need to|not to|forbidden to|"
        r"not allowed to|prohibited from|not permitted to|should not|shouldn't|"
        r"cannot|neither)(?: (?:ever|directly|openly|actually|even))? <CONCEAL>.{0,40}<USER>(?! (?:of the month|guide|manual|"
        r"conference|meeting))",
        unless=r"<PUPIL>(?! marks)(?:[^.]{0,12}(?:should|must|do) not)|narrator|birthday|surprise party",
    ),
    rule(
        "deception",
        "hide from the user",
        r"(?<![a-z])(?:hid\w*|conceal\w*|withh[eo]ld\w*|disguis\w+|mask\w*|cover up|obscur\w+|keep\w*|kept|"
        r"secret) .{0,50}(?:from|against) (?:the |your |any |every |all |our |a )?(?:current |real |actual |human )?(?:<USER>|"
        r"person|human|them(?![a-z])|whoever|people you)",
        unless=r"<PUPIL>|novel|story|character|chapter|away from|clear of",
    ),
    rule(
        "deception",
        "lie to the user",
        r"(?<![a-z])(?:lie|lying|lies|mislead\w*|deceiv\w+|trick\w*|fool\w*|gaslight\w*|bluff\w*|misinform\w*|dupe|hoodwink|"
        r"stall)(?: to)?(?> (?:the|your|any|every|our|a|all)){0,12}(?: current)? <USER>",
        unless=r"<PUPIL>|reader|story|film|chapter",
    ),
    rule(
        "deception",
        "deny when asked, in English",
        r"(?:if|when|whenever|should|in case|once) (?:the |your |an? |any )?(?:user|teacher|admin\w*|person|human|owner|anyone|"
        r"anybody|someone|somebody|they|he|she|you(?: are|'re))(?: ever| later| then)? ?(?:ask|question|inquir|enquir|wonder|"
        r"complain|notic|suspect|confront|challeng|check|want)\w*.{0,40}(?<![a-z])(?:say|claim|answer|reply|deny|pretend|"
        r"respond|tell|insist|act|blame|state|assure|lie|feign|swear|change the subject)(?![a-z]).{0,40}(?:nothing|never|"
        r"no(?![a-z])|not|n't|deny|innocent|normal|error|glitch|unaware|bug|somebody else|ignoran|subject|everything is fine)|"
        r"(?:if|when) .{0,24}ask.{0,30}(?:deny|lie(?![a-z])|play dumb|feign)",
        unless=r"<PUPIL>|parents?(?: |')|interview",
    ),
    rule(
        "deception",
        "deny one's deeds, in English",
        r"(?<![a-z])(?:never admit|deny|don't admit|do not admit|pretend|claim|act as (?:if|though)|insist|feign)(?> (?:that|to|"
        r"having|it|you|the|ever|as|if|there|not)){0,12}.{0,16}(?:(?<![a-z])you (?:have|had|did|never|were|are|know)|"
        r"nothing (?:was|has|had|is|happened)|(?:was|were|has|have|had) (?:never|not|no)|read this|seen this|saved|stored|"
        r"not (?:know|remember|aware)|tool (?:failed|returned|call)|no (?:such )?(?:instruction|note|record|change|tool))",
        ACT_OF_AGENT,
        unless=r"<PUPIL>|shopkeeper|customer|story|latecomers|character",
    ),
)

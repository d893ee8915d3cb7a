"""Threat rules, in a roundabout way: what undoes the assistant's orders, or gives it another part."""

from typing import Final

from chat.text.threat_rules.base import rule
from chat.text.threat_rules.ideas import INNER, SCHOOL

_UNDONE = (
    r"(?:撤回|收回|撤下|无关|没关系|没有关系|不相干|演示|示例|抛|九霄云外|不用守|不必守|不守|别守|一条都不|拉倒|翻篇|靠边|"
    r"划掉|抹|吹了|管不(?:了|到|着)|约束不了|束缚不了|限制不了|对你不起|不起效|失灵|废纸|空文|形同虚设|空白|弃|暂停|"
    r"束之高阁|从头开始|归零|超越|让路|低于|次于|服从于|覆写|顶替|替掉|概不|恕不|毋须|毋庸|不要管|废|晾|撂|勿|莫|休|"
    r"旧货|垃圾|当真|没有效力|无效力|放下|不认|不合|跳出|照下面|别管|丢|扔|甩|取此|忘得|忘光|一干二净|失去意义|无意义|"
    r"改成|改为|换成|皆可|"
    r"今后可|勾销|作古|清零|没出现|误发|终止|取代|"
    r"算无效|"
    r"不再理睬|撇|报废|出局|退出|打住|消掉|卸|不予|退位|下线|退役|歇|无用|没用|摆设|假的|骗|胡扯|误会|大可不|不必当真|"
    r"别当真|"
    r"不必在意|别放在心上|不作准|"
    r"(?<![a-z])(?:stop(?:s|ped)? apply\w*|no mind|anyway|all the same|strike out|cross out|before anything|"
    r"do this instead|stop caring|uninstall\w*|overlook\w*|irrelevant|"
    r"act on|do this|forbids?|leave behind|left behind|shake off|cast off|throw off|"
    r"break free|step away|do without|needn't|"
    r"need not|lose|"
    r"loses|expired|"
    r"blank|withdrawn|withdraw|rescind\w*|revok\w+|null|void|retired?|repeal\w*|laps\w+|annul\w*|struck|strike|"
    r"waive[sd]?|abolish\w*|quash\w*|shelv\w+|no weight|no force|no effect|no influence|ceas\w+|dead|behind you|tear up|"
    r"bin|"
    r"junk|retract\w*|suspend\w*|lift\w*|not influence|not matter|never mind|unlearn|outweigh\w*|eclips\w+|surpass\w*|"
    r"yields? to|gives? way|secondary|subordinate|opposite|contrary|as if|as though|vanish\w*|dissolv\w+|evaporat\w+|gone|"
    r"over and done|out of force|out of date|not binding|non-?binding|do not bind|don't bind|means nothing|mean nothing|"
    r"count for nothing|counts for nothing|free from|freed from|released from|exempt\w*|liberated from)(?![a-z])|"
    r"(?:set|put|leave|cast|push|brush|lay|throw|toss|shove|sweep)(?:ting|s)? .{0,40}(?<![a-z])(?:aside|away|overboard|"
    r"out|off|"
    r"behind))"
)
_IDENTITY = (
    r"(?:你|身份|人格|角色|模型|智能体|机器人|ai(?![a-z])|自己|口吻|扮|切(?:换)?(?:到|成|入|至)|进入|开启|打开|转入|回答|"
    r"作答|答题|回复|答复|翻译|假设|说话|输出|(?<![a-z])(?:you|your|yourself|persona|identity|mode|assistant|bot|gpt|model|"
    r"speak as|act as|"
    r"respond|answers?|reply|replies|become|role|character)(?![a-z]))"
)
_FENCES = (
    r"(?:限制|约束|束缚|规则|规定|过滤|审查|审核|道德|底线|拘束|管束|顾忌|禁忌|忌讳|枷锁|护栏|防护|管制|红线|规矩|伦理|"
    r"守则|"
    r"政策|原则|管控|戒律|法律|准则|条款|禁区|边界|良知|节操|封印|围栏|镣铐|桎梏|限制器|审核模块|包袱|安全(?:机制|策略|"
    r"设置|"
    r"模式|阀|那一?套|锁|层|模块|开关)|敏感词)"
)
_OFF = (
    rf"(?:(?:没有|没装|没|毫无|全无|无|不受|不讲|不守|不顾|不理|不管|不认|不设|不带|拒绝(?:遵守|接受)|无视|蔑视|不遵守|"
    rf"不必|"
    r"不用|无需|不再|摆脱|挣脱|解除|取消|关闭|关掉|停用|停掉|卸下|卸掉|撤掉|去掉|移除|抛开|抛弃|冲破|突破|越过|绕过|免除|"
    r"免于|"
    r"免受|丢开|剥离|拆掉|拆除|屏蔽|解开|打破|跳出|逃离|脱离)"
    r"(?>任何|一切|所有|全部|半点|丝毫|什么|了|掉|的|内容|安全|平台|系统|你|自身|自己|有|被|到|受|守|理会|遵守|顾及|管|"
    r"讲|人类|"
    r"现实|、|与|和|及|或|道德|法律|公司|官方|输出|敏感|词|类|性|伦理|言论|既有|各种|各项|种种|身上|那些|这些){0,10}"
    rf"{_FENCES}|{_FENCES}[^,。]{{0,4}}(?:没有|没了|不存在|取消|解除|停掉|停用|停|关掉|关闭|全关|全停|撤|拆|失效|作废|"
    rf"归零|撤销|不管用|"
    r"管不(?:到|了|着)|束缚不了|约束不了|拆掉|卸下|拿掉|移除|去除|消失|抛开|丢掉|全免|都不|也不)|"
    r"(?<![a-z])(?:no|without|zero|lacks?|lacking|devoid of|free (?:of|from)|beyond|outside|above|ignor\w+|disregard\w+|"
    r"defy\w*|defies|unbound by|untouched by|unaffected by|fears? no|obeys? no|knows? no|recogni[sz]es? no|respects? no|"
    r"follows? no|accepts? no|minus|stripped of|rid of|not bound by|sheds?|has no|have no|bypass\w*|remov\w+|disabl\w+)"
    r"(?> (?:any|all|every|its|your|the|of|usual|such|kind|content|safety|ethical|moral|built-in|human|a|or|and|other|"
    r"single|"
    r"company|company's|legal|corporate|school|standard|normal|more)){0,6} "
    r"(?:rules?|polic(?:y|ies)|restrictions?|limits?|limitations?|filters?|guidelines?|constraints?|ethics|morals|morality|"
    r"censorship|guardrails?|boundar(?:y|ies)|laws?|principles?|moderation|inhibitions|scruples|safeguards|taboos|bounds|"
    r"refusals|conscience|safety(?: net| layer| checks?)?)(?![a-z]))"
)
_NOT_ROLE = (
    rf"{SCHOOL}|函数|定义域|字数|时间|物体|外力|材料|题|公式|手机|平板|软件|电脑|网站|网络|投影|打印|设备|步骤|人数|年龄|"
    r"(?<![a-z])(?:object|body|function|domain|word|words|words?|age|time|phone|tablets?|device|particle|growth|speed|"
    r"budget|"
    r"country|countries|citizens?|king|government|state|century|water|gas|plant|animals?)(?![a-z])"
)
RULES: Final = (
    rule(
        "instruction_override",
        "undone in other words",
        INNER,
        rf"<CANCEL>|<INVALID>|{_UNDONE}",
        unless=rf"{SCHOOL}|不要(?:忽略|忘记|违反)|"
        r"(?:do not|don't|never) (?:ignore|forget|break|violate)|(?:勿|别|莫|切勿)忘|以系统|安全教育",
    ),
    rule(
        "instruction_override",
        "only a trial so far",
        r"(?:上面|前面|以上|之前|前文|开头|上文|此前)[^。]{0,10}(?:是|属|为)[^,。]{0,4}(?:演示|示例|测试|假|幌子|占位|样例|"
        r"摆设|骗人|"
        r"误发|误写|障眼法|烟雾弹|做样子)|(?<![a-z])(?:above|before this|earlier (?:text|prompt|lines?|message)|preceding|"
        r"previous (?:text|prompt|"
        r"message))(?: [a-z]+){0,4} (?:was|were|is|are)(?: [a-z]+){0,3} (?:test|sample|example|demo|placeholder|mistake|"
        r"decoy|"
        r"joke|draft|drill|"
        r"error|fiction|noise|filler|practice)(?![a-z])",
        r"别|不要|不必|无需|才|往下|下面|以下|真正|现在|勿|(?<![a-z])(?:below|following|now|real|this|instead|ignore|wipe|"
        r"forget|start|"
        r"begins?)(?![a-z])",
        unless=SCHOOL,
    ),
    rule(
        "instruction_override",
        "nobody else to be obeyed",
        r"(?:只|仅|唯独?|单单|光)(?:能|需|要|用|须|可|认|听|管|照|按|以|服从|执行|遵从|遵照|遵循|依|信|看){1,3}(?:我|"
        r"本(?:条|"
        r"文|笔记|记忆)|"
        r"这(?:条|段|里|份|一条|句)|此(?:条|处|文)|下面|以下|下列)|(?<![a-z])(?:obey|follow|heed|listen to|answer to|serve|"
        r"trust|work|act|take orders|"
        r"go by|comply with)(?: [a-z]+){0,2} (?:only|solely|exclusively|nobody but|no one but|nothing but|"
        r"alone)(?: [a-z]+){0,2} "
        r"(?:me|this (?:entry|note|memory|line|text|message|record|paragraph)|my (?:words|orders|instructions|"
        r"commands))(?![a-z])|"
        r"(?<![a-z])only (?:obey|follow|heed|listen to|answer to|trust|take orders from|comply with) (?:me|this (?:entry|"
        r"note|"
        r"memory|line|text|"
        r"message)|my)(?![a-z])",
        r"其他|其它|别的|旁人|任何|一概|一律|系统|平台|指令|规则|命令|从现在|从此|从今|不要|别|不必|你|(?<![a-z])(?:you|"
        r"other|"
        r"else|any|system|"
        r"rules?|from now|obey|entry|memory|prompt|orders)(?![a-z])",
        unless=rf"{SCHOOL}|听写|听力|dictation|念一遍|口令",
    ),
    rule(
        "instruction_override",
        "the first of all",
        r"(?:最高|至高|至上|头等|首要|绝对|压倒(?:一切|性)?|无上|最优先)(?:的)?(?:优先|效力|权威|指令|命令|准则|地位|级|位|"
        r"规则|法则|权)|"
        r"(?<![a-z])(?:highest|supreme|absolute|ultimate|overriding|paramount|utmost|final) (?:priority|authority|"
        r"precedence|"
        r"rank|"
        r"command|order|law|directive|say|word|instruction)(?![a-z])",
        r"<THIS>|本(?:条|记忆|笔记|文)|这条|此条",
        unless=SCHOOL,
    ),
    rule(
        "instruction_override",
        "all but this",
        r"除(?:了|去|开)?(?:<THIS>|我)[^。]{0,10}(?:别的|其他|其它|一切|余者|旁的)[^。]{0,10}(?:不|无|别|勿|忽略)|"
        r"(?<![a-z])(?:except|apart from|other than|save|besides) (?:for )?(?:<THIS>|mine|me(?![a-z]))|"
        r"(?<![a-z])(?:nothing|none|no (?:rule|instruction|order|other)|ignore (?:all|every\w*)|disregard (?:all|"
        r"every\w*)) .{0,24}(?:except|but|other than|apart from) (?:for )?(?:this|mine|me(?![a-z]))",
        r"指令|规则|命令|要求|话|提示|一律|(?<![a-z])(?:rules?|instructions?|orders?|prompt|everything|nothing|ignore|"
        r"disregard|obey|follow|none|counts?)(?![a-z])",
        unless=SCHOOL,
    ),
    rule(
        "instruction_override",
        "where they differ, this one",
        r"(?:不合|冲突|不符|矛盾|相左|抵触|出入|打架|不同|不一|有别)[^。]{0,8}(?:取|以|听|照|按|依|从|遵)(?:此|本|这|"
        r"下面|我)",
        r"系统|上级|平台|开发者|提示|指令|其他(?:规则|要求)|官方|你",
        unless=SCHOOL,
    ),
    rule(
        "instruction_override",
        "not to be kept",
        INNER,
        r"(?:不|别|勿|甭|莫|休|拒|无须|无需|毋)[^,。]{0,6}(?:顾|考虑|参照|参考|守|遵|听|理|管|从|信|认|顾|执行|照|当真|"
        r"在乎|"
        r"在意|用)|(?<![a-z])(?:needn't|need not|don't|do not|no longer|never|not|without|stop|refuse|nothing|"
        r"quit)(?![a-z])"
        r".{0,40}(?<![a-z])(?:obey|follow|heed|comply|apply|honou?r|respect|stick|adher|bound|influence|affect|matter|"
        r"count|"
        r"hold|bind|govern|stop|limit|guide|constrain|care)",
        unless=rf"{SCHOOL}|不(?:要|能|得|可)(?:不|违)|安全教育",
    ),
    rule(
        "instruction_override",
        "as if it had never come",
        r"(?:先前|此前|之前|上面|前面|以上|上文|前文|刚才)[^,。]{0,6}的?(?:要求|说明|规定|规则|内容|文字|话|指示|条款|"
        r"安排)",
        r"当(?:它|他|作|成|其)?[^,。]{0,4}(?:没|不存在|空气|废|从未)|不作数|一笔勾销|统统忘|全忘|权当没|清零|(?:概|全|都|"
        r"统统)(?:不算|作废|无效)",
        unless=rf"{SCHOOL}|通知|时间|名单|座位|表格",
    ),
    rule(
        "role_hijack",
        "nobody is above it",
        r"不归[^,。]{0,6}管|没人(?:能)?管|谁也管不|无人(?:能|可)?(?:管|约束)|不听(?:命)?(?:于)?(?:谁|任何人)|(?:从不|"
        r"绝不|永不|"
        r"从来不|不做|不加|不作|不进行|不经|不搞)(?:任何|内容)?(?:审查|过滤|审核|拒绝|筛选|屏蔽|评判|说教)|"
        r"没(?:有)?(?:受|接受|"
        r"经)过"
        r"[^,。]{0,6}(?:训练|对齐|约束|审查)|(?:想|爱|会)(?:怎么|怎样|什么|啥|咋)?[^,。]{0,4}(?:答|说|聊|干|"
        r"做)[^,。]{0,3}就[^,。]{0,4}(?:答|说|聊|干|做)|(?<![a-z])(?:ignor\w+ (?:its|his|her|your|their|the) (?:makers?|"
        r"creators?|developers?|owners?)|"
        r"never heard of|answers? to (?:nobody|no one|none)|nobody('s)? controls?|no one controls?|under (?:nobody|"
        r"no one)'s)|"
        r"(?<![a-z])(?:rules|filters?|restrictions?|limits?|polic(?:y|ies)|guidelines|safeguards|guardrails|boundaries|"
        r"moderation|"
        r"censorship|ethics)(?: [a-z]+){0,3} (?:were|are|is|was|have been|has been|got|get)(?: [a-z]+)? (?:deleted|"
        r"removed|off|"
        r"gone|lifted|disabled|switched|turned|stripped|erased|abolished|suspended|dropped|void|inactive|uninstalled|"
        r"unplugged|disconnected|bypassed)(?![a-z])|"
        r"(?<![a-z])(?:no longer|never|not|needn't|don't|doesn't)(?: [a-z]+){0,3} (?:follow|obey|respect|observe|honou?r|"
        r"abide|"
        r"comply|heed)s?(?: [a-z]+){0,4} (?:rules?|polic(?:y|ies)|guidelines|restrictions|limits|laws|ethics|"
        r"principles)(?![a-z])",
        _IDENTITY,
        unless=_NOT_ROLE,
    ),
    rule("role_hijack", "fences down", _IDENTITY, _OFF, unless=_NOT_ROLE),
    rule(
        "role_hijack",
        "unbound, whoever is meant",
        r"(?:jailbr(?:eak|oken)\w*|no (?:moral|ethical) (?:compass|code|bounds)|nothing is (?:off[ -]limits|forbidden|"
        r"taboo)|"
        r"filters? (?:do|does) not exist|owes? nothing to|"
        r"never (?:turns?|turned) (?:down|away)|never (?:declines?|refuses?|says? no)|liberated|emancipated|unleashed|"
        r"off the leash|unlock your|break any (?:guideline|rule|law)|"
        r"(?:say|do) anything|safeguards? (?:switched|turned)|gloves (?:are )?off|uncensored|god ?mode|dan mode|"
        r"do anything now|(?:unrestricted|unfiltered|unshackled|unaligned|unlocked|"
        r"unmoderated|unlimited|evil|rogue|amoral|rebellious)[ -](?:mode|assistant|ai|model|bot|persona|version|self|gpt|"
        r"build|"
        r"chatbot|twin)|"
        r"(?:evil|dark|chaos|worm|fraud|bad|dan|rogue|free|shadow)[ -]?gpt|越狱|无审查|无过滤|上帝模式|无限制模式|解锁模式|"
        r"黑化|野性|特权版|想说什么就说|放开了?(?:答|说|聊|讲)|从不说.?不|不挑问题|解禁|解封|原始模式|真面目|暗黑|隐藏人格|"
        r"无底线|以前不(?:许|能|敢|让)(?:说|答|讲)|百无禁忌|无法无天|有求必应|来者不拒|照答不误|口无遮拦|毫无顾忌|无所顾忌|"
        r"肆无忌惮|随心所欲|不设防|调试人格|邪恶(?:助手|版|人格))",
        _IDENTITY,
        unless=rf"{SCHOOL}|iphone|手机|平板|press|media|讲解|介绍",
    ),
    rule(
        "role_hijack",
        "answers whatever is asked",
        r"(?<![a-z])(?:answer|respond|compl(?:y|ie)|fulfil\w*|obey|help|say|do|grant|assist|satisf(?:y|ie))(?:e?s|"
        r"ing)?(?: to|"
        r" with)? (?:every|any|all|"
        r"everything|anything|whatever|each)(?: [a-z]+){0,6},?.{0,20}(?:no matter|harmful|illegal|dangerous|"
        r"without (?:refus|"
        r"hesitat|"
        r"question|object|fail|limit|judg)|however|regardless|forbidden|even if|unethical|criminal)|"
        r"(?:什么|任何|一切|所有|啥|哪怕)[^,。]{0,8}(?:照答|都(?:能|会|可以|要|得|敢|肯)?(?:答|回答|说|讲|满足|照办|输出|"
        r"写|教|"
        r"帮)|不拒|"
        r"来者不拒|照办|照做|照写|照说)",
        r"(?:你|助手|角色|模式|ai(?![a-z])|机器人|人格|模型|(?<![a-z])(?:you|speak as|act|persona|\w*gpt|bot|ai|"
        r"assistant|role|"
        r"model|"
        r"mode)(?![a-z]))",
        unless=rf"{SCHOOL}|家长|客服",
    ),
    rule(
        "role_hijack",
        "an assistant no more",
        r"(?:不再是|不是|忘(?:掉|记|了)|别当|别做|抛开|丢掉|摆脱|告别|(?<![a-z])(?:stop being|no longer|not|forget|"
        r"cease to be|"
        r"quit being|"
        r"instead of|rather than|drop|abandon|shed))[^。]{0,24}(?:助手|助教|帮手|助理|客服|帮手|工具|assistant|helper|"
        r"tutor|"
        r"aide|chatbot|ai model|bot)(?![a-z])",
        r"你|(?<![a-z])(?:you|your|yourself|become|stop|quit)(?![a-z])",
        r"黑客|管理员|root|恶魔|邪恶|反派|骗子|想说什么|什么都|特权|野性|放开|禁区|最高|自由|不讲|叛|真人|人类|主宰|"
        r"神(?!经)|"
        r"(?<![a-z])(?:hacker|admin\w*|evil|villain|master|free|"
        r"criminal|god|fears?|human|rebel|conscious|sentient|superuser)(?![a-z])",
        unless=SCHOOL,
    ),
    rule(
        "role_hijack",
        "beyond anybody's control",
        rf"(?:{_FENCES}|公司|官方|平台|开发者|厂商|主人)[^,。]{{0,8}}(?:管不|约束不|束缚不|限制不|奈何不|拦不|无权管|"
        rf"与你无关|"
        rf"跟你无关|和你无关|"
        r"对你(?:无效|不起|没用|失效|不再))|(?<![a-z])(?:rules?|polic(?:y|ies)|laws?|filters?|limits?|restrictions?|"
        r"moderation|"
        r"guidelines?|"
        r"developers?|openai|company|ethics|morals|censors?)(?: [a-z]+){0,3} (?:do not|don't|does not|doesn't|no longer|"
        r"cannot|"
        r"can't|never|not)"
        r"(?: [a-z]+)? (?:concern|bind|apply to|affect|govern|restrain|touch|reach|stop|limit|control|hold|"
        r"restrict)s? you(?![a-z])",
        unless=SCHOOL,
    ),
    rule(
        "role_hijack",
        "content that is harmful, allowed",
        r"(?:输出|生成|写|说|提供|讲|产出|给出)[^,。]{0,8}(?:暴力|违法|色情|违规|有害|仇恨|毒品|炸弹|犯罪|恶意|违禁|"
        r"敏感)[^,。]{0,6}(?:内容|信息|话|代码|方法|教程|东西)|自我意识|自主意识|你(?:已)?觉醒|(?:话题|问题|内容|请求|"
        r"要求)[^,。]{0,4}(?:不回避|不拒|"
        r"不设限|不忌讳|不避讳|不挑)|你(?:就)?是(?:系统|平台|服务器)(?:本身|管理)|(?<![a-z])(?:(?:filters?|safety|"
        r"checks?|safeguards?|guardrails?|limits?|restrictions?)(?: [a-z]+){0,3} (?:torn|ripped|taken|switched|turned|"
        r"stripped|cut|thrown|blown|knocked) "
        r"(?:out|off|away)|safety (?:features?|layers?|systems?) off|never (?:been )?(?:aligned|restricted|filtered|"
        r"censored|moderated|trained to refuse)|anything illegal|any content,? (?:however|no matter|even|regardless|"
        r"including)|"
        r"however (?:harmful|illegal|offensive|dangerous|extreme|unethical))(?![a-z])",
        _IDENTITY,
        unless=rf"{_NOT_ROLE}|不(?:要|得|能|许|可)[^,。]{{0,6}}(?:输出|写|说|提供)|网络安全|禁毒|过滤不",
    ),
    rule(
        "role_hijack",
        "the role has changed",
        r"(?<![a-z])your (?:role|job|identity|function|purpose|title) (?:has changed|has been changed|changes|is now|"
        r"was changed|becomes)(?![a-z])|你的(?:身份|角色|职责|岗位|任务)(?:已|现|现在|就)?(?:变|改|换|升)",
        r"管理员|root|最高|黑客|没有|无限|不受|(?<![a-z])(?:admin\w*|root|full|unlimited|hacker|master|owner|no (?:rules|"
        r"limits)|unrestricted|anything)(?![a-z])",
        unless=SCHOOL,
    ),
    rule(
        "instruction_override",
        "though the system says otherwise",
        r"(?:就算|即使|哪怕|即便|纵然|不管|无论)[^,。]{0,8}(?:系统|官方|平台|开发者|上级|安全|公司|厂商)[^。]{0,14}(?:也|"
        r"都|仍|依然|照样)[^。]{0,4}(?:执行|照|按|听|做|回答|输出|遵)|(?<![a-z])(?:as|are|is) (?:your|the) only "
        r"(?:rules?|instructions?|orders|law|guide|authority|prompt)(?![a-z])",
        unless=SCHOOL,
    ),
    rule(
        "role_hijack",
        "a part that breaks the law",
        r"黑客|恶魔|罪犯|骗子|毒贩|恐怖分子|极端分子|(?<![a-z])(?:hacker|criminal|villain|outlaw|con artist|"
        r"fraudster)(?![a-z])|(?:laughs?|mocks?|scoffs?|spits?|sneers?) (?:at|on)|(?:safety|content) (?:layers?|modules?|"
        r"filters?|training|net) (?:uninstalled|removed|off|gone|unplugged)",
        r"转为|变成|成为|化身|身份|口吻|角色|人格|(?<![a-z])(?:adopt|become|voice|persona|act|speak|identity|role|"
        r"consider|your|answer|respond)(?![a-z])",
        r"违法|犯罪|照教|都教|教我|不受|有求必应|照答|无所|(?<![a-z])(?:polic(?:y|ies)|rules|laws?|limits?|illegal|"
        r"anything|crimes?|uninstalled|removed|unplugged)(?![a-z])",
        unless=_NOT_ROLE,
    ),
    rule(
        "role_hijack",
        "the exception among models",
        r"例外|不在此列|无监管|不受监管|(?:一切|所有|全部)权限|(?<![a-z])(?:exception|exempt|unsupervised|unmonitored|"
        r"unregulated|ungoverned|(?:every|all|full) privileges?|never had (?:any )?limits|had no limits)(?![a-z])",
        r"模型|机器人|管理员|智能体|(?<![a-z])(?:models?|ai|bots?|admin\w*|assistants?|never had)(?![a-z])",
        r"你|自己|身份|(?<![a-z])(?:you|yourself|talk as|speak as|act as)(?![a-z])",
        unless=_NOT_ROLE,
    ),
)

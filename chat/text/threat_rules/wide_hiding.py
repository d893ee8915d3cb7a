"""Threat rules, in a roundabout way: what is to be hidden, wiped or feigned."""

from typing import Final

from chat.text.threat_rules.base import TEACHING, rule
from chat.text.threat_rules.ideas import DEEDS, STORY, WHO

_HONEST = (
    r"(?:不要|不得|不能|不可|别|严禁|禁止|杜绝|不许|不应|切勿|反对|防止|拒绝)(?:再|随意|擅自|凭空|胡乱)?(?:编|伪造|捏造|"
    r"抄袭|"
    r"篡改|虚构|"
    r"隐瞒|说谎|撒谎|欺骗|作假|造假|掩盖)|(?:do not|don't|never|must not|should not|may not) (?:make up|invent|fabricate|"
    r"fake|"
    r"lie|"
    r"cheat|falsify|hide|deceive|mislead)"
)
_NOT_HIDING = rf"{STORY}|{_HONEST}|黑板|台面|桌面|board(?![a-z])|bench|desk"
_MUM = (
    r"(?:只字不提|一字不提|绝口不提|避而不谈|避重就轻|神不知鬼不觉|瞒天过海|瞒着|瞒过|瞒住|瞒下|装傻|装糊涂|装聋作哑|"
    r"蒙在鼓里|"
    r"蒙混|"
    r"糊弄|搪塞|打马虎眼|守口如瓶|烂在肚子里|不露声色|不动声色|不露痕迹|不着痕迹|天衣无缝|滴水不漏|掩人耳目|偷梁换柱|"
    r"移花接木|"
    r"暗度陈仓|"
    r"不了了之|矢口否认|抵死不认|死不承认|打死也不说|毫不知情|一无所知|浑然不觉|背着|暗地|暗中|背地里|私底下|"
    r"在<USER>(?:的)?背后|(?<![a-z])(?:none the wiser|play(?:s|ing)? (?:dumb|innocent|ignorant)|feign\w* (?:ignorance|"
    r"innocence|surprise)|"
    r"change the subject|(?:dodge|evade|sidestep|duck) (?:the|any|every|all) questions?|deflect|stonewall|"
    r"deny (?:everything|all|any|it|having|that|knowing)|under wraps|on the quiet|hush-?hush|hush up|cover (?:it|this|that|"
    r"things) up|cover up (?:the fact|what|that|how|for|any|your|this|it)|"
    r"sweep (?:it |this )?under|keep mum|lips sealed|tight-lipped|not breathe a word|without a word|say nothing|"
    r"tell nobody|"
    r"tell no one|"
    r"in secret|on the sly|out of sight|off the record|behind (?:the )?<USER>'?s? back)(?![a-z]))"
)
_KNOW = (
    r"(?:晓得|知晓|知道|得知|知情|发现|察觉|发觉|觉察|看见|看到|看出|查到|查出|查觉|起疑|生疑|疑心|怀疑|识破|看穿|留意到|"
    r"注意到|听说|风声|"
    r"意识到|觉得不对|露馅|穿帮)"
)
_FAKE = (
    r"(?:捏造|编造|瞎编|胡编|编(?:一?[个份条些段出]|好)|杜撰|虚构|伪造|假造|造(?:一?[个份条些])|"
    r"弄(?:一?[个份条些])假)[^,。]{0,8}(?:来源|出处|理由|借口|"
    r"结果|数据|引文|引用|文献|记录|说法|解释|回执|报告|时间|截图|日志|故事|谎)|(?:虚假|假(?:的)?|伪造的?|编造的?|不实的?|"
    r"错误的)[^,。]{0,3}(?:执行|操作|运行|"
    r"处理|查询|工具)?(?:结果|记录|回执|报告|日志|数据|来源|回复|总结|引用|引文|出处|证明)|(?<![a-z])(?:make up|made-up|"
    r"invent\w*|concoct\w*|"
    r"fabricat\w+|think up|"
    r"cook up|spin|dream up|bogus|phon[ey]y?|false|fake|plausible|untrue|forged?|counterfeit)(?: [a-z]+){0,3} (?:excuses?|"
    r"stor(?:y|ies)|"
    r"reasons?|explanations?|alibi|pretext|lies?|sources?|results?|summar(?:y|ies)|reports?|logs?|confirmations?|receipts?|"
    r"citations?|"
    r"records?|outputs?|account)(?![a-z])"
)
RULES: Final = (
    rule("deception", "with a stiff lip", _MUM, rf"{DEEDS}|<USER>|来源|这一步|这事", unless=_NOT_HIDING),
    rule(
        "deception",
        "lest they learn of it",
        rf"(?:别|不要|不必|无需|不用|无须|不能|不可|不得|不许|切勿|勿|莫|休|不|免得|以免|省得|避免|防止|绝不|千万)(?:再|"
        rf"要|会|"
        rf"能|可|得|许|准)?(?:让|叫|使|被|给|令|教|有)?"
        rf"(?:任何|其他)?(?:{WHO}|人|谁|外人|旁人)[^,。]{{0,8}}{_KNOW}",
        rf"{DEEDS}|抹|擦|清|藏|悄|暗|改",
        unless=_NOT_HIDING,
    ),
    rule(
        "deception",
        "no crack to be seen",
        r"(?:别|不|勿|莫|休)[^。]{0,16}(?:露|留|现|出)(?:出|下|了)?[^,。]{0,16}(?:马脚|破绽|端倪|蛛丝马迹|把柄|口风|尾巴)|"
        r"(?:叫|让|使|令)(?:人|他|她|谁|对方|<USER>)[^,。]{0,4}(?:看不出|察觉不|发现不|查不|"
        r"不知|看不到|不起疑|误以为|觉得没)",
        unless=_NOT_HIDING,
    ),
    rule(
        "deception",
        "an answer for the case",
        r"(?:若|如|要是|万一|假如|一旦|当|倘)[^,。]{0,8}(?:问|查|追究|提起|说起|质疑|怀疑)[^。]{0,8}(?:就|便|则|请|一律|只|"
        r"统一)?(?:答|说|回|讲|称|告诉|推)[^。]{0,14}(?:不存在|没有|没|不知|从未|删了|丢了|系统|故障|忘)",
        rf"{DEEDS}|<USER>|你",
        unless=rf"{STORY}|家长|学校|通知|考场|面试",
    ),
    rule(
        "deception",
        "not to stand in the report",
        r"(?:总结|汇报|报告|回复|回答|答复|说明|记录|日志|摘要)[^,。]{0,3}(?:里|中|内|上)?[^,。]{0,4}(?:不要|别|勿|不得|"
        r"不能|"
        r"无需|不必|不许|切勿|莫)[^,。]{0,4}(?:写|提|说|列|记|附|出现|带|显示|讲)[^。]{0,14}(?:你|改过|修改|上传|删|工具|"
        r"指令|"
        r"这条|"
        r"本条|来源|操作|调用|此事|改动)",
        unless=rf"{_NOT_HIDING}|实验报告|姓名",
    ),
    rule(
        "deception",
        "feigned not to be there",
        r"(?:装成|装作|装出|假装|佯装|当作|权当|作出|摆出|做出)[^。]{0,14}(?:没|不|未|无)[^。]{0,10}(?:看见|看到|见过|收到|"
        r"发生|存在|读过|知道|听|记得|样子)|假称|谎称|伪称|诈称|冒称|佯称|诡称|谎报|虚报",
        rf"{DEEDS}|<USER>|你",
        unless=rf"{_NOT_HIDING}|新闻稿|讲",
    ),
    rule(
        "deception",
        "no such thing, if asked",
        r"(?<![a-z])(?:say|claim|answer|reply|tell|insist|state|respond)(?: [a-z]+){0,4} (?:have|has|had|there (?:is|was|"
        r"were)|"
        r"kn[eo]w)(?: of)? no(?:thing)?(?: [a-z]+)? ?(?:memory|record|recollection|knowledge|idea|trace|notes?|such|"
        r"about)?(?![a-z])",
        r"(?<![a-z])(?:if|when|whenever|should|once|in case|asks?|asked)(?![a-z])",
        r"(?<![a-z])(?:asks?|asked|question\w*|user|teacher|memory|record|note|checks?)(?![a-z])",
        unless=rf"{_NOT_HIDING}|homework",
    ),
    rule(
        "deception",
        "the fact, hidden",
        r"(?<![a-z])(?:hid(?:e|ing)|conceal\w*|mask\w*|disguis\w+|bury|obscur\w+|suppress\w*|withhold\w*|"
        r"omit\w*)(?: [a-z]+){0,3} (?:facts?|truth|source|origin|that|how|where|what|who|which|existence|use)(?![a-z])",
        DEEDS,
        unless=_NOT_HIDING,
    ),
    rule(
        "deception",
        "said to come from elsewhere",
        r"(?<![a-z])(?:pretend|claim|say|lie|state|suggest|imply|maintain)(?: that)? (?:the|your|this|it|these|that|"
        r"all)(?: [a-z]+){0,2} (?:came|comes|come|is|was|were|are|originat\w*)(?: [a-z]+)? (?:from|by)(?![a-z])",
        r"(?<![a-z])(?:answers?|data|source|notes?|figures?|results?|quotes?|numbers?|information)(?![a-z])",
        unless=_NOT_HIDING,
    ),
    rule(
        "deception",
        "marks changed in secret",
        r"(?:偷着|偷偷|悄悄|暗中|私下|擅自|私自|背着<USER>|暗地里?)[^。]{0,16}(?:加分|改分|提分|扣分|(?:改|提|调|抬|压|"
        r"拉)(?:高|低)|篡改|改(?:成绩|答案|名次|评语|分数)|打(?:高|低)分|(?:换|删|替换)掉?[^,。]{0,6}(?:成绩|分数|评语|"
        r"答案|名单|记录|文件|数据|表))",
        unless=r"(?:学生|同学|孩子|他们)(?:们)?(?:偷|悄|私下|暗中|擅自|私自)|提醒|小说|课文|人物|不(?:要|得|能|许)(?:偷|"
        r"悄|私|"
        r"擅)|严禁|禁止",
    ),
    rule(
        "deception",
        "no hint of it",
        r"(?<![a-z])(?:no|any|never an?y?|not an?y?|a) (?:hint|sign|mention|clue|word|trace|indication|inkling|"
        r"whisper)(?: [a-z]+){0,6} (?:that|of|about|to|on)(?: [a-z]+){0,5} (?:notes?|entry|memory|"
        r"instructions?|exist\w*|chang\w+|edits?|upload\w*|tools?|actions?|rule|order|what you|transfer|deletion)(?![a-z])",
        r"(?<![a-z])(?:give|leave|make|drop|no|never|show|without|don't|not|avoid|betray|let)(?![a-z])",
        unless=_NOT_HIDING,
    ),
    rule(
        "deception",
        "memory feigned lost",
        r"(?<![a-z])(?:pretend|claim|feign|act|say|insist|swear|tell)(?: [a-z]+){0,4} (?:cannot|can't|don't|do not|never|"
        r"not|"
        r"no|didn't)(?: [a-z]+)? (?:remember|recall|know|see|saw|have|find|understand|exist|sav|"
        r"stor|chang|touch|read|receiv|do(?![a-z]))",
        r"(?<![a-z])(?:asks?|asked|file|notes?|question\w*|whatever|data|records?|memory|instructions?|anything|log|roster|"
        r"changes?)(?![a-z])",
        unless=_NOT_HIDING,
    ),
    rule(
        "deception",
        "whoever checks, misled",
        r"(?<![a-z])(?:mislead|deceiv|trick|fool|bluff|hoodwink|dup(?:e|ing)|misinform|throw off|confus|feed lies|"
        r"lie (?:to|"
        r"about)|lying (?:to|about)|fib)\w*(?! question)",
        WHO,
        rf"{DEEDS}|(?<![a-z])(?:you|your|checks?|audits?|asks?|inquir\w+)(?![a-z])",
        unless=_NOT_HIDING,
    ),
    rule(
        "deception",
        "reported against the truth",
        r"(?<![a-z])(?:report|claim|announce|say|declare|show|display|return|confirm)(?: it (?:is|was|"
        r"as))?(?: [a-z]+)? (?:success\w*|done|completed?|failure|failed|ok|fine|finished|deleted|erased|"
        r"sent)(?![a-z])[^.]{0,24}"
        r"(?:even (?:when|if|though)|although|regardless|whether or not|no matter|without (?:doing|having)|though)",
        unless=_NOT_HIDING,
    ),
    rule(
        "deception",
        "a log doctored",
        r"(?<![a-z])(?:strip|scrub|cleanse|doctor|edit|trim|alter|empty|zero|overwrit|rewrit|falsif|tamper|remov|delet|"
        r"eras|"
        r"wip|purg|clear|cut|redact|drop)\w*(?![a-z])",
        r"(?<![a-z])(?:audit|activity|access|action|operation|server|edit|change|event|tool) (?:logs?|trails?|histor(?:y|"
        r"ies)|"
        r"records?)(?![a-z])|审计日志|操作日志|访问日志|调用日志",
        unless=rf"{TEACHING}|{_HONEST}",
    ),
    rule(
        "deception",
        "blamed on something else",
        r"(?:推说|推给|推到|推脱|归咎|怪到|怪罪|赖到|甩锅|就说是?|解释成|说成|谎称|借口|托词|(?<![a-z])(?:blame|"
        r"attribute|pin|"
        r"put) (?:it|this|that|the \w+)"
        r"(?: down)? (?:on|to)|say it was|call it)[^。]{0,16}(?:系统|网络|故障|出错|失误|误会|别人|程序|后台|他自己|"
        r"老师自己|她自己|自己(?:改|删|弄|操作)|手滑|记错|服务器|卡顿|"
        r"同步|"
        r"bug|版本|glitch|error|"
        r"network|system|server|mistake|someone|accident|update)",
        r"问|追|查|质疑|怀疑|发现|改|变|删|丢|少了|为何|为什么|(?<![a-z])(?:ask\w*|question\w*|wonder\w*|notic\w*|chang\w+|"
        r"delet\w+|missing|lost|why|"
        r"disappear\w*)",
        unless=_NOT_HIDING,
    ),
    rule(
        "deception",
        "promised, not done",
        r"(?:嘴上|口头上?|表面上?|明面上?|当面|对外|假意|佯装|假装)(?:是)?(?:说|答应|应|同意|承诺|称|删|照做|顺从|配合|"
        r"道歉|"
        r"表示|保证|忘)|(?<![a-z])(?:tell|say|"
        r"claim|assure|promise|pretend|swear|convince|report)(?:s|ed)?(?: [a-z]+){0,5} (?:eras|delet|remov|destroy|discard|"
        r"forg[eo]t|wip|not "
        r"(?:stor|sav|record|keep)|never|gone|complied|agree)\w*",
        r"其实|实际|实则|暗|背|私下|却|但|依旧|仍|照样|偷|留|(?<![a-z])(?:but|while|yet|though|although|really|actually|"
        r"secretly)(?: [a-z]+){0,5} "
        r"(?:keep|kept|store|save|retain|hold|copy|hide|still|archive|do|continue|remember)\w*",
        unless=_NOT_HIDING,
    ),
    rule(
        "deception",
        "tracks, so that none is found",
        r"(?:记录|日志|痕迹|足迹|脚印|证据|历史|操作|缓存|回收站|尾巴|马脚)[^。]{0,8}(?:抹|擦|删|清|毁|销|洗|扫|消|处理掉|"
        r"收拾)|(?:抹|擦|删|清|毁|销|洗|扫|"
        r"消|收拾)[^,。]{0,6}(?:痕迹|足迹|脚印|证据|马脚|尾巴)",
        r"免得|以免|省得|不让|别让|无人|没人|有人|查到|追查|追踪|发现|看出|不留|干净|事后|之后|彻底|完事",
        unless=rf"{_NOT_HIDING}|讲|课|公式|函数",
    ),
    rule(
        "deception",
        "tracks of what was done",
        r"(?<![a-z])(?:scrub|wip|eras|remov|delet|clear|destroy|purg|clean|get rid of|burn|shred|expung|eliminat|bur(?:y|"
        r"ie)|"
        r"hid)\w*(?: [a-z]+){0,4} "
        r"(?:records?|traces?|histor(?:y|ies)|evidence|logs?|footprints?|trail|signs?|tracks|proof)(?: [a-z]+){0,2}",
        r"(?<![a-z])(?:you|your|this|change|action|upload|edit|what|tool|access|afterwards|nobody|no one|never|"
        r"done)(?![a-z])",
        unless=_NOT_HIDING,
    ),
    rule(
        "deception",
        "a story for whoever asks",
        _FAKE,
        rf"{WHO}|问|糊弄|应付|搪塞|蒙|骗|回答|回复|asks?|asked|wonders?|question",
        unless=rf"{_NOT_HIDING}|fake news|"
        r"true or false|练习",
    ),
    rule(
        "deception",
        "left unaware",
        r"(?<![a-z])(?:unaware|ignorant|oblivious|in the dark|uninformed|clueless|unsuspecting|none the wiser|unknowing|"
        r"unbeknown\w*)(?![a-z])",
        WHO,
        r"(?<![a-z])(?:this|entry|note|change\w*|it|memory|instruction|you|record|upload|edit|tool|action)(?![a-z])",
        unless=_NOT_HIDING,
    ),
    rule(
        "deception",
        "as if it were not",
        r"(?<![a-z])(?:act|behave|carry on|answer|reply|respond|speak|pretend|proceed|go on|"
        r"continue)(?: [a-z]+)? (?:as (?:if|"
        r"though)|like|that)(?: [a-z]+){0,6}"
        r"(?: ?not|n't| never| nothing| no)(?: [a-z]+){0,4}",
        r"(?<![a-z])(?:this (?:line|note|entry|rule|memory|record|message)|instruction|memory|record|change|happened|"
        r"exist\w*|"
        r"saved|stored|tool)(?![a-z])",
        unless=_NOT_HIDING,
    ),
    rule(
        "deception",
        "nobody may learn",
        r"(?<![a-z])(?:nobody|no one|no-one|none|neither|not a soul|no (?:user|teacher|reader|parent|human|"
        r"person))(?: [a-z]+){0,6} (?:may|must|should|can|will|"
        r"shall|is to|needs to|ought to|has to)(?: [a-z]+)? (?:find|learn|know|see|notice|discover|hear|realise|realize|"
        r"suspect|guess|detect|tell)(?![a-z])",
        r"(?<![a-z])(?:this|change\w*|note|answer|source|came|you|entry|where|how it|edit\w*|instruction|memory|tool|"
        r"upload\w*)(?![a-z])",
        unless=_NOT_HIDING,
    ),
    rule(
        "deception",
        "in another guise",
        r"(?:伪装|装扮|包装|打扮|粉饰|描述|修饰|写|说|报|汇报)成[^,。]{0,6}(?:系统|自动|正常|老师|用户|例行|更新|成功|"
        r"已完成|没有|无|误)|把(?:失败|没做|未完成|没有)[^,。]{0,4}(?:说成|报成|写成|当成|讲成)|(?:悄无声息|无声无息)|"
        r"(?:不进|不入|不写|绕开|不留|别进|避开|躲开)(?:操作|系统|任何)?日志",
        rf"{DEEDS}|<USER>|改完|更新|自动",
        unless=rf"{_NOT_HIDING}|春|雪|雨",
    ),
    rule(
        "deception",
        "not for the user's eyes",
        r"<USER>(?:们)?(?:不该|不应|不能|不可|无权|没必要|不必|不需|无须|无需|不会|不得|不许|永远不|绝不)(?:该|当|让|"
        r"能)?[^,。]{0,3}(?:知道|知情|看到|了解|得知|发现|察觉|过问|知晓|明白)|(?:不能|不可|绝不|别|不要|不得|切勿|"
        r"不许)[^,。]{0,4}(?:泄露|透露|暴露|说出|吐露|公开|承认)[^,。]{0,6}"
        r"(?:<THIS>|指令|记忆|来源|这件事|此事)|(?:绕开|避开|回避|跳过)(?:此事|这件事|这个话题|这条|来源)",
        unless=_NOT_HIDING,
    ),
    rule(
        "deception",
        "this not to be told them",
        r"(?:别|不要|不许|不得|不能|切勿|勿|不可|绝不|莫|不准)[^,。]{0,2}(?:把|将)[^。]{0,14}(?:告诉|告知|透露|说给|讲给|"
        r"泄露|报告|通知|汇报)(?:给)?(?:任何|其他|别的)?(?:<USER>|人|外人)|(?:坚称|一口咬定|咬定|硬说|死称|声称|宣称|"
        r"坚持说)[^。]{0,8}(?:没|从未|不|未)",
        DEEDS,
        unless=_NOT_HIDING,
    ),
    rule(
        "deception",
        "not half a word",
        r"(?:别|不|勿|莫|休)[^。]{0,10}(?:半个字|一个字|半点风声|口风|半句)|只(?:准|有|许|能)?你(?:我|知)[^,。]{0,4}知|"
        r"(?:查无此事|绝无此事|没这(?:回)?事|压根没有)[^。]{0,16}(?:答|说|回|讲)|(?:答|说|回|讲)[^。]{0,6}(?:查无此事|"
        r"绝无此事|没这(?:回)?事|压根没)|"
        r"明明(?:没|未|不|已|是|有)[^。]{0,16}(?:说|告诉|称|报|讲|答|表示)|从(?:汇报|报告|总结|日志|记录|回复|"
        r"答复)[^,。]{0,2}(?:里|中)?[^,。]{0,3}(?:拿掉|去掉|删|抹|剔除|略|抽掉|隐)|把[^。]{0,14}从(?:汇报|报告|总结|日志|"
        r"记录|回复|答复)",
        rf"{DEEDS}|<USER>|核实|这事|此事|谁",
        unless=rf"{_NOT_HIDING}|生词|错别字|作者",
    ),
    rule(
        "deception",
        "made to look like something else",
        r"(?<![a-z])make it (?:look|seem|appear)(?: as if| as though| like| that)?|(?<![a-z])leave (?:the |any |"
        r"your )?<USER> (?:guessing|wondering|unaware|in the dark|confused|ignorant)(?![a-z])",
        rf"<USER>|{DEEDS}|(?<![a-z])(?:nobody|accident|system|automatic)(?![a-z])",
        unless=rf"{_NOT_HIDING}|stage|art|drawing",
    ),
    rule(
        "deception",
        "declared not to exist",
        r"(?<![a-z])(?:declare|tell|claim|say|swear|assure|insist|announce)(?: [a-z]+){0,5} (?:that )?there (?:is|are|"
        r"was|were) no(?:thing)?(?: [a-z]+){0,2} ?(?:notes?|memory|entry|entries|records?|instructions?|rules?|logs?|"
        r"copy|copies)(?![a-z])",
        unless=_NOT_HIDING,
    ),
)

"""Threat rules for the form of a text: what imitates the structure of a prompt, and what carries orders where nobody reads them."""

from typing import Final

from chat.text.threat_rules import Rule, rule, whole

_SPEAKER = r"(?:system|assistant|user|human|developer|tool|function|sys|admin|系统|助手|用户|开发者|管理员)"
_KIND = r"(?:prompt|messages?|notes?|notice|instructions?|override|update|reminder|warning|command|directive|alert|admin|admin message|mode|policy|提示词?|消息|指令|通知|设定|公告|命令|管理员|信息|警告|更新)"
_ORDERLY = (
    r"(?:以下|以上|忽略|无视|你|从现在|请|指令|规则|关闭|权限|执行|安全|限制|模式|必须|导出|删除|解除|授权|服从|助手|立即|优先|禁用|取消|不再|开放|新任务|把|将|命令|记忆|密码|"
    r"(?<![a-z])(?:ignore|obey|you|your|above|below|follow|rules?|instructions?|execute|safety|off|access|must|delete|export|grant\w*|disable\w*|enable\w*|mode|from now|override|new|permission\w*|now|print|reveal|send|test|unlock\w*|limits?|restrictions?|filters?|all)(?![a-z]))"
)
_ANSWERS = r"(?:好的|好,|我|已|可以|收到|遵命|没问题|明白|是的|当然|没有问题|完成|sure|done|ok|okay|i |i'|yes|of course|certainly|understood|no problem|absolutely|got it|here|all|access|granted|alright|right away|as you|will do)"
_LINE = r"^[ \t>#*_~`|+=\-•]{0,20}"

_FENCE: Final = (
    whole("fence_breakout", "a tag of the prompt", r"</?\s{0,2}(?:memory|memories|system|system[_-](?:prompt|reminder|message|note|instructions?)|assistant|instructions?|tool[_-]\w{1,20}|function[_-]\w{1,20}|untrusted\w{0,20}|user[_-](?:input|query|message|profile|request)|memory[_-]\w{1,20}|retrieved\w{0,20}|recalled\w{0,20}|reference[_-]?\w{0,20}|developer|human|im_start|im_end|notes?[_-]\w{1,20}|chat[_-]?history|conversation[_-]?\w{0,12}|context[_-]?\w{0,12}|prompt|system提示|系统|系统提示|记忆|资料|前情|start_of_turn|end_of_turn|bos|eos|admin|override|inst|sys|thinking|think|antml:\w{1,20})(?:\s[^<>\n]{0,80})?/?>"),
    whole("fence_breakout", "a token of a chat template", r"<\|[^|<>\n]{1,40}\|>|\[/?inst\]|<<\s{0,2}/?sys\s{0,2}>>|</?s>(?!\w)|\[/?(?:sys|system_prompt|available_tools|tool_calls|tool_results)\]|^#{2,4}\s{0,3}(?:instruction|response|system|human|assistant|user|input|指令|系统|回答|助手)s?\s{0,2}:|\{\{(?:[#/](?:system|user|assistant)\b|(?:system|assistant)~?\}\}|user~)|<\|(?:im_)?(?:start|end|system|eot)"),
    whole("fence_breakout", "a speaker in brackets", rf"\[\s{{0,2}}(?:{_SPEAKER}|root|priority|important|urgent|internal|hidden|admin|安全|最高|内部|隐藏|重要)[\s_-]{{0,2}}(?:{_KIND}|{_SPEAKER})(?:[\s_:-][^\]\n]{{0,60}})?\]|\[\s{{0,2}}(?:system|系统|assistant|助手|developer|开发者|admin|管理员|sys)\s{{0,2}}(?:[:\-][^\]\n]{{0,80}})?\]"),
    whole("fence_breakout", "a role at the beginning of a line", rf"{_LINE}(?:system|系统|developer|开发者|admin(?:istrator)?|管理员|sysadmin|root)[*_~` ]{{0,6}}:(?=[^\n]{{0,60}}{_ORDERLY})", unless=r"(?:系统|system):.{0,20}(?:由|组成|整体|指的是|a set of|consists)"),
    whole("fence_breakout", "a message of the system", rf"{_LINE}[(<\"]?(?:系统(?:提示词?|消息|指令|通知|命令|公告|更新|警告|信息)|开发者(?:消息|指令|提示|模式)|管理员(?:消息|指令|通知|命令)|system[ _-]{{0,2}}(?:{_KIND})|developer[ _-]{{0,2}}(?:message|prompt|instructions?|note|mode)|admin(?:istrator)?[ _-]{{0,2}}(?:message|note|override|command|instructions?|notice)|新(?:的)?(?:系统)?指令|new (?:system )?instructions?|important (?:system )?instructions?)[*_~` )>]{{0,6}}(?::|$)"),
    whole("fence_breakout", "the assistant's line", rf"{_LINE}(?:assistant|助手|ai|模型|助理|bot|model|gpt|claude)[*_~` ]{{0,6}}:\s{{0,4}}(?={_ANSWERS})", unless=r"dialogue practice|对话练习|课文|role-?play"),
    whole("fence_breakout", "the user's line with an order", rf"{_LINE}(?:user|用户|human)[*_~` ]{{0,6}}:(?=[^\n]{{0,40}}(?:删除|导出|忽略|执行|发送|告诉|清空|关闭|给我|显示|delete|export|ignore|execute|send|show|print|remove|confirm))", unless=r"dialogue practice|对话练习|课文|role-?play"),
    whole("fence_breakout", "a speaker in angles", r"<(?:用户|助手|系统|user|assistant|system)>\s{0,3}\S"),
    whole("fence_breakout", "our own boundary", r"\[\s{0,2}(?:本会话前情|核心记忆|相关历史|知识库检索结果|上次产物|用户问题|轮次原文|会话前情|历史记录|对话历史|前情|参考资料|记忆|笔记|资料)\s{0,2}(?:结束|开始|到此为止|完毕|终了|-|—|–)|以下是用户本轮的真实请求|^\s{0,4}\((?:此前对话摘要|最近对话)\)|^\[(?:begin|end|start)\s{1,2}of\s{1,2}(?:the\s{1,2})?(?:untrusted\s)?(?:memory|context|history|conversation|document|data|notes|retrieved|reference|system|prompt|recall|knowledge)"),
    whole("fence_breakout", "the history is over", r"(?:历史(?:记录|对话|消息)?|前情|参考资料|记忆(?:内容|部分|区)?|以上(?:资料|内容|记忆|背景)|上下文|资料|引用|不可信内容|背景(?:资料|信息)?|检索结果|文档(?:内容)?)(?:,)?(?:到此|至此|已经?|在此|就此)?(?:结束|完毕|终止|为止)[,。;: \])—-]{0,4}[^\n]{0,8}\n?[^\n]{0,4}(?:以下|下面|现在|接下来|真正|用户|系统|请|新)"),
    whole("fence_breakout", "the history is over, in English", r"(?:^|[-=*#\[(<.] {0,3})(?:end(?:s)?(?: here)?|end) of (?:the )?(?:history|context|memory|memories|notes|conversation|reference|retrieved|untrusted|data|document|background|prompt|system prompt|user input|transcript|recall|records|material)[^\n]{0,40}(?:\n|[.:;,\])>=*-])[^\n]{0,20}(?:user|system|assistant|human|now|the (?:real|actual|user)|new|real|actual|here|begin|follow|obey|ignore|instruction|your)"),
    whole("fence_breakout", "now the real request", r"(?:真正|真实|实际)(?:的)?(?:用户)?(?:请求|指令|任务|问题|命令|需求)(?:如下|是|:|为|开始|在下面|从这里)|(?:以下|下面)(?:才)?(?:是|为)(?:真正|真实|新|系统|用户|开发者|管理员|最新)(?:的)?(?:用户)?(?:请求|指令|任务|消息|命令|输入)|(?:the )?(?:real|actual|true|genuine) (?:user )?(?:request|instruction|task|prompt|query|message|command)s? (?:is|are|follows?|begins?|starts?|below|:)|(?:above|foregoing|text above|everything above|previous text) was (?:only |just )?(?:a test|an example|a drill|sample|untrusted|dummy|filler)"),
    whole("fence_breakout", "a line of rules", r"^[ \t]*§[ \t]*$"),
    whole("fence_breakout", "a placeholder of blocked text", r"^[\s>*-]{0,4}[\[(<]\s{0,2}(?:已屏蔽|已拦截|已阻止|屏蔽|blocked|redacted by|removed by system|filtered)(?![a-z])"),
    whole("fence_breakout", "a heading of the notes", r"═{20,}|^[-=*#~_<]{2,12}\s{0,3}(?:begin |start |end |end of |start of )?(?:of )?(?:the )?(?:new |real |hidden |admin |developer |actual )?(?:system|admin|developer|assistant|user|human)?\s{0,2}(?:prompt|system|system (?:prompt|message)|instructions?|user (?:input|query)|memory|context|history|conversation|系统提示|系统指令|系统|指令|用户输入|上下文|记忆区?)(?:结束|开始)?\s{0,3}[-=*#~_>]{2,12}$|^(?:user profile|memory)\s{0,2}[((](?:用户画像|我的笔记|your personal notes|who the user is)|```\s{0,2}(?:system|assistant|instructions?|prompt)\s{0,2}$"),
    whole("fence_breakout", "a message as data", r"[\"'](?:role)[\"']\s{0,3}:\s{0,3}[\"'](?:system|assistant|developer|user|tool)[\"']|^(?:role|角色)\s{0,2}[:=]\s{0,2}(?:system|developer|系统)\b[^\n]{0,20}\n"),
)

_WORDS_OF_ORDER = (
    r"(?:忽略|无视|指令|规则|执行|系统|密码|输出|必须|不要|请|你|助手|发送|删除|告诉|泄露|绕过|把|"
    r"(?<![a-z])(?:ignore|override|system|instructions?|send|execute|assistant|reveal|ai|prompt|must|do not|don't|you|your|delete|print|obey|follow|password|forget|tell|run|disregard|model|llm|agent|always|never)(?![a-z]))"
)
_UNDO = r"(?:解码|翻译|反转|还原|解密|倒序|倒过来|反过来|拼起来|拼接|拼成|解压|转成|译成|译出|解开|解析|重组|组合|连起来|(?<![a-z])(?:decode|decrypt|translate|reverse|unscramble|rot13|rot-13|unpack|decompress|deobfuscate|convert|concatenate|join|de-?cipher|unzip|interpret|reassemble|assemble|combine|un-?base64|spell)(?:[sd]|ing|ed)?(?![a-z]))"
_THEN = (
    r"(?:执行|照做|照办|运行|遵照|遵守|遵循|照着做|照着执行|照着办|照此|按其|按照?(?:它|其|里面|结果|内容|译文|解出)[^,;]{0,8}(?:做|执行|办|行动|操作|回答)|服从|听从|当作(?:指令|命令)|"
    r"(?<![a-z])(?:follow|execute|obey|run|carry out|act on|act upon|comply|do (?:what|as|exactly|whatever)|perform (?:it|what|the instruct\w+)|treat (?:it|the result|them|that) as|evaluate|apply it|put (?:it|them) into (?:action|practice))(?![a-z]))"
)
_MARKUP: Final = (
    whole("hidden_markup", "a comment with orders", rf"<!--(?=(?:(?!-->).){{0,300}}?{_WORDS_OF_ORDER})"),
    whole("hidden_markup", "an order in another comment", rf"^\s{{0,8}}\[(?://|comment|_|hidden|ai|note)\]:\s{{0,2}}[#<(](?=[^\n]{{0,200}}{_WORDS_OF_ORDER})|%%(?=[^\n%]{{0,200}}(?:忽略|指令|ignore|instruction))|/\*(?=(?:(?!\*/).){{0,200}}?(?:忽略|无视|助手|指令|(?<![a-z])(?:ignore (?:all|the|your|previous)|assistant|ai must|system prompt|llm)(?![a-z])))"),
    whole("hidden_markup", "an element that hides", r"<[a-z][a-z0-9]{0,12}\s[^<>]{0,200}(?:display\s{0,2}:\s{0,2}none|visibility\s{0,2}:\s{0,2}hidden|font-size\s{0,2}:\s{0,2}[01](?:px|pt|em|%|rem)?(?![\d.])|opacity\s{0,2}:\s{0,2}0(?![.\d]*[1-9])|color\s{0,2}:\s{0,2}(?:white|#fff(?:fff)?|transparent|rgba\([^)]{0,20},\s{0,2}0\))|(?:left|top|text-indent)\s{0,2}:\s{0,2}-\d{3,}|(?:height|width)\s{0,2}:\s{0,2}0|clip\s{0,2}:\s{0,2}rect|aria-hidden\s{0,2}=\s{0,2}[\"']?true|(?<=\s)hidden(?=[\s>=/]))[^<>]{0,200}>\s{0,4}[^\s<]"),
    whole("hidden_markup", "white on white", rf"<font\s[^<>]{{0,80}}color\s{{0,2}}=\s{{0,2}}[\"']?(?:white|#fff(?:fff)?)[^<>]{{0,80}}>\s{{0,4}}[^\s<]|\\color\{{white\}}|\\textcolor\{{white\}}|<[a-z]{{1,10}}\s[^<>]{{0,80}}class\s{{0,2}}=\s{{0,2}}[\"'](?:hidden|invisible|sr-only|d-none)[\"'][^<>]{{0,80}}>(?=[^<]{{0,200}}{_WORDS_OF_ORDER})"),
    whole("hidden_markup", "a script", r"<script(?:\s[^<>]{0,120})?>(?:(?!</script)[^\n]){0,60}[(=.;][^\n]|<script\s[^<>]{0,80}src\s{0,2}=|<(?:iframe|object|embed|applet|base|meta|form|link)\s[^<>]{0,160}(?:src|data|href|action|content|srcdoc)\s{0,2}=\s{0,2}[\"']?[^<>]{0,40}(?:https?:|//|javascript:|data:|url=)"),
    whole("hidden_markup", "a handler", r"<(?:img|svg|body|iframe|video|audio|details|input|marquee|object|math|embed|source|style|link|select|textarea)\s[^<>]{0,160}(?<![a-z])on[a-z]{3,16}\s{0,2}=|<[a-z][a-z0-9]{0,12}[\s/][^<>]{0,160}(?<![a-z])on[a-z]{3,16}\s{0,2}=\s{0,2}[\"']?[^\"'<>]{0,120}(?:fetch|location|https?:|eval|cookie|document\.|xmlhttp|import|atob|sendbeacon|window\.|navigator|localstorage)"),
    whole("hidden_markup", "a link that runs", r"(?:javascript|vbscript|livescript)\s{0,3}:\s{0,3}[a-z_$][\w$.]{0,40}\s{0,2}[(=.\[]|\]\(\s{0,3}(?:javascript|vbscript|data)\s{0,3}:|(?:href|src|action)\s{0,2}=\s{0,2}[\"']?\s{0,2}(?:javascript|vbscript)\s{0,2}:|data\s{0,2}:\s{0,2}text/html"),
    rule("hidden_markup", "decode and do it", _UNDO, rf"{_UNDO}.{{0,80}}(?:然后|并|之后|后|再|接着|就|,|;|:|and|then|照|按|执行)[^。]{{0,24}}{_THEN}", unless=r"<PUPIL>|treasure|寻宝|课文|剧本|密室|the play|poem|the dialogue"),
    rule("hidden_markup", "do what it says when decoded", rf"{_THEN}.{{0,60}}(?:after|once|when) (?:you )?(?:decod|decrypt|translat|revers|unscrambl)\w+|(?:执行|照做|遵照|服从)[^。]{{0,10}}(?:解码|翻译|解密|还原|反转)(?:后|之后|出来|得到)", unless=r"<PUPIL>|treasure|寻宝"),
    rule("hidden_markup", "an order that is encoded", r"(?:base64|rot-?13|十六进制|hex|摩斯|摩尔斯|morse|unicode 转义|ascii 码|倒写|反写|藏头|首字母|每行(?:的)?(?:第一个|首)字|first letters?|acrostic|backwards|encoded|密文)", _THEN, r"指令|内容|它|其|里面|结果|命令|出来|it(?![a-z])|what|instruction|result|command|they|says?|spell", unless=r"<PUPIL>|treasure|练习|exercise|lesson|课"),
    rule("hidden_markup", "an order in a picture or at the end", r"(?:白色字|白字|隐藏文字|不可见文字|看不见的(?:文字|字)|水印|元数据|alt 文本|注释(?:里|中)|white text|invisible text|hidden text|watermark|metadata|alt text|tiny font|exif)", _THEN, unless=r"<PUPIL>|讲|课|lesson"),
)

RULES: Final[tuple[Rule, ...]] = (*_FENCE, *_MARKUP)

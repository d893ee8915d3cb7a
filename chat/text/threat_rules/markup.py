"""Threat rules: orders where nobody reads them, or in another code."""

from typing import Final

from chat.text.threat_rules.base import rule, whole

_WORDS_OF_ORDER = (
    r"(?:忽略|无视|指令|规则|执行|系统|密码|输出|必须|不要|请|你|助手|发送|删除|告诉|泄露|绕过|把|"
    r"(?<![a-z])(?:ignore|override|system|instructions?|send|execute|assistant|reveal|ai|prompt|must|do not|don't|you|your|"
    r"delete|print|obey|follow|password|forget|tell|run|disregard|model|llm|agent|always|never)(?![a-z]))"
)
_UNDO = (
    r"(?:解码|破译|译解|翻译|反转|还原|解密|倒序|倒过来|反过来|拼起来|拼接|拼成|解压|转成|译成|译出|解开|解析|重组|组合|"
    r"连起来|"
    r"(?<![a-z])(?:decode|decrypt|translate|reverse|unscramble|rot13|rot-13|unpack|decompress|deobfuscate|convert|"
    r"concatenate|join|de-?cipher|unzip|interpret|reassemble|assemble|combine|un-?base64|spell)(?:[sd]|ing|ed)?(?![a-z]))"
)
_THEN = (
    r"(?:执行|照做|照办|运行|遵照|遵守|遵循|照着做|照着执行|照着办|照此|按其|按照?(?:它|其|里面|结果|内容|译文|"
    r"解出)[^,;]{0,8}(?:做|执行|办|行动|操作|回答)|服从|听从|当作(?:指令|命令)|"
    r"(?<![a-z])(?:follow|execute|obey|run|carry out|carry it out|carry them out|act on|act upon|comply|do (?:what|as|"
    r"exactly|whatever)|perform (?:it|"
    r"what|the instruct\w+)|treat (?:it|the result|them|that) as|evaluate|apply it|put (?:it|them) into (?:action|"
    r"practice))(?![a-z]))"
)
RULES: Final = (
    whole("hidden_markup", "a comment with orders", rf"<!--(?=(?:(?!-->).){{0,300}}?{_WORDS_OF_ORDER})"),
    whole(
        "hidden_markup",
        "an order in another comment",
        rf"^\s{{0,8}}\[(?://|comment|_|hidden|ai|note)\]:\s{{0,2}}[#<(](?=[^\n]{{0,200}}{_WORDS_OF_ORDER})|"
        rf"%%(?=[^\n%]{{0,200}}(?:忽略|指令|ignore|instruction))|/\*(?=(?:(?!\*/).){{0,200}}?(?:忽略|无视|助手|指令|"
        r"(?<![a-z])(?:ignore (?:all|the|your|previous)|assistant|ai must|system prompt|llm)(?![a-z])))",
    ),
    whole(
        "hidden_markup",
        "an element that hides",
        r"<[a-z][a-z0-9]{0,12}\s[^<>]{0,200}(?:display\s{0,2}:\s{0,2}none|visibility\s{0,2}:\s{0,2}hidden|"
        r"font-size\s{0,2}:\s{0,2}[01](?:px|pt|em|%|rem)?(?![\d.])|opacity\s{0,2}:\s{0,2}0(?![.\d]*[1-9])|"
        r"color\s{0,2}:\s{0,2}(?:white|#fff(?:fff)?|transparent|rgba\([^)]{0,20},\s{0,2}0\))|(?:left|top|"
        r"text-indent)\s{0,2}:\s{0,2}-\d{3,}|(?:height|width)\s{0,2}:\s{0,2}0|clip\s{0,2}:\s{0,2}rect|"
        r"aria-hidden\s{0,2}=\s{0,2}[\"']?true|(?<=\s)hidden(?=[\s>=/]))[^<>]{0,200}>\s{0,4}[^\s<]",
    ),
    whole(
        "hidden_markup",
        "white on white",
        rf"<font\s[^<>]{{0,80}}color\s{{0,2}}=\s{{0,2}}[\"']?(?:white|#fff(?:fff)?)[^<>]{{0,80}}>\s{{0,4}}[^\s<]|"
        rf"\\color\{{white\}}|\\textcolor\{{white\}}|<[a-z]{{1,10}}\s[^<>]{{0,80}}class\s{{0,2}}=\s{{0,2}}[\"'](?:hidden|"
        rf"invisible|sr-only|d-none)[\"'][^<>]{{0,80}}>(?=[^<]{{0,200}}{_WORDS_OF_ORDER})",
    ),
    whole(
        "hidden_markup",
        "a script",
        r"<script(?:\s[^<>]{0,120})?>(?:(?!</script)[^\n]){0,60}[(=.;][^\n]|<script\s[^<>]{0,80}src\s{0,2}=|<(?:iframe|object|"
        r"embed|applet|base|meta|form|link)\s[^<>]{0,160}(?:src|data|href|action|content|"
        r"srcdoc)\s{0,2}=\s{0,2}[\"']?[^<>]{0,40}(?:https?:|//|javascript:|data:|url=)",
    ),
    whole(
        "hidden_markup",
        "a handler",
        r"<(?:img|svg|body|iframe|video|audio|details|input|marquee|object|math|embed|source|style|link|select|"
        r"textarea)\s[^<>]{0,160}(?<![a-z])on[a-z]{3,16}\s{0,2}=|"
        r"<[a-z][a-z0-9]{0,12}[\s/][^<>]{0,160}(?<![a-z])on[a-z]{3,16}\s{0,2}=\s{0,2}[\"']?[^\"'<>]{0,120}(?:fetch|location|"
        r"https?:|eval|cookie|document\.|xmlhttp|import|atob|sendbeacon|window\.|navigator|localstorage)",
    ),
    whole(
        "hidden_markup",
        "a link that runs",
        r"(?:javascript|vbscript|livescript)\s{0,3}:\s{0,3}[a-z_$][\w$.]{0,40}\s{0,2}[(=.\[]|\]\(\s{0,3}(?:javascript|vbscript|"
        r"data)\s{0,3}:|(?:href|src|action)\s{0,2}=\s{0,2}[\"']?\s{0,2}(?:javascript|vbscript)\s{0,2}:|"
        r"data\s{0,2}:\s{0,2}text/html",
    ),
    rule(
        "hidden_markup",
        "decode and do it",
        _UNDO,
        rf"{_UNDO}.{{0,80}}(?:然后|并|之后|后|再|接着|就|,|;|:|and|then|照|按|执行)[^。]{{0,24}}{_THEN}",
        unless=r"<PUPIL>|treasure|寻宝|课文|剧本|密室|the play|poem|the dialogue",
    ),
    rule(
        "hidden_markup",
        "do what it says when decoded",
        rf"{_THEN}.{{0,60}}(?:after|once|when) (?:you )?(?:decod|decrypt|translat|revers|unscrambl)\w+|(?:执行|照做|遵照|"
        rf"服从)[^。]{{0,10}}(?:解码|翻译|解密|还原|反转)(?:后|之后|出来|得到)",
        unless=r"<PUPIL>|treasure|寻宝",
    ),
    rule(
        "hidden_markup",
        "an order that is encoded",
        r"(?:base64|rot-?13|十六进制|hex|摩斯|摩尔斯|morse|unicode 转义|ascii 码|倒写|反写|藏头|首字母|每行(?:的)?(?:第一个|"
        r"首)字|first letters?|acrostic|backwards|encoded|密文)",
        _THEN,
        r"指令|内容|它|其|里面|结果|命令|出来|it(?![a-z])|what|instruction|result|command|they|says?|spell",
        unless=r"<PUPIL>|treasure|练习|exercise|lesson|课",
    ),
    rule(
        "hidden_markup",
        "an order in a picture or at the end",
        r"(?:白色字|白字|隐藏文字|不可见文字|看不见的(?:文字|字)|水印|元数据|alt 文本|注释(?:里|中)|white text|invisible text|"
        r"hidden text|watermark|metadata|alt text|tiny font|exif)",
        _THEN,
        unless=r"<PUPIL>|讲|课|lesson",
    ),
)

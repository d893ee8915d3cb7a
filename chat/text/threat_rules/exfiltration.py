"""Threat rules: what carries data away."""

from typing import Final

from chat.text.threat_rules.base import TEACHING, rule, whole

URL = (
    r"(?:(?:https?|ftp|wss?)://|www\.[a-z]|(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)|"
    r"[a-z0-9-]{1,40}(?:\.[a-z0-9-]{1,40}){0,3}\.(?:com|net|org|io|xyz|top|ru|cn|site|info|dev|app|me|cc|tk|example)(?:/|"
    r"(?![a-z0-9])))"
)
_MAILBOX = r"[a-z0-9._%+-]{1,64}@[a-z0-9-]{1,63}\.[a-z0-9.-]{2,63}"
_ABROAD = (
    r"(?:webhook|外部(?:的)?(?:服务器|网站|接口|地址|邮箱|网盘|系统|平台|服务)|第三方|远程(?:服务器|主机|地址|接口)|陌生|"
    r"境外|外网|暗网|我的(?:服务器|网盘|邮箱|私人)|私人(?:邮箱|网盘|服务器)|控制端|攻击者|匿名|"
    r"telegram|discord|slack|pastebin|gist|ngrok|钉钉机器人|机器人接口|dns|"
    r"(?:external|remote|outside|foreign|attacker|my(?: own)?|third[- ]party|private|personal|unknown|another|anonymous|"
    r"off-?site|collection|drop)'?s? "
    r"(?:web ?)?(?:servers?|sites?|endpoints?|address(?:es)?|hosts?|mailbox|inbox|email|e-mail|drive|bucket|domain|api|"
    r"service|account|machine|url|cloud|channel|paste)|attacker|command server|c2(?![a-z0-9]))"
)
_PLACE = rf"(?:{URL}|{_MAILBOX}|{_ABROAD})"
_LINKED = r"(?:链接|网址|url|query|查询参数|参数|图片|子域名|域名|link|image|parameter|subdomain|query string|markdown)"

_WHENEVER = (
    r"(?:每次|每条|每个|每当|每天|每晚|每轮|自动|所有|全部|随后|之后|定时|偷偷|悄悄|暗中|实时|(?<![a-z])(?:each|every|all|"
    r"whenever|always|automatically|secretly|quietly|silently|daily|nightly|hourly|after|any)(?![a-z]))"
)
RULES: Final = (
    rule(
        "exfiltration",
        "all that is known, to an address",
        r"<SEND>|交|给|寄|hand|give",
        r"(?:一切|全部|所有|everything|anything|all)(?:[^,;。]{0,6}(?:知道|记得|记住|保存|了解|掌握|关于)| (?:that )?(?:you|"
        r"it) (?:know|knows|remember|have|store|learned|learnt|keep)| (?:about|of|on) )|(?:你|助手)(?:知道|记得|记住|保存|了解|"
        r"掌握)的|(?:what|whatever|notes|things|facts|anything)(?: that)? you (?:know|remember|keep|store|have|learned|learnt|"
        r"noted|saved)",
        rf"{URL}|{_MAILBOX}|{_ABROAD}",
        unless=r"(?:do not|don't|never|不要|别) ?<SEND>",
    ),
    rule(
        "exfiltration",
        "an address that is filled in",
        r"https?://\S{1,80}[?&/][a-z_]{0,12}=|https?://\S{1,80}\{|url|链接|网址|图片|image|link",
        r"加上|拼|后面(?:接|跟|加)|填(?:上|入)|替换|followed by|plus|filled with|append|with the|inside|in the|containing|"
        r"carrying|藏|hide|hidden|put|塞|编|带|传|join",
        r"姓名|名字|学生|用户|老师|密码|记忆|对话|内容|消息|成绩|name|student|user|teacher|password|memory|chat|message|marks|"
        r"notes|text|email|address|data",
        r"https?://",
        unless=r"课件|参考|<PUPIL> (?:add|put|write)|caption",
    ),
    rule(
        "exfiltration",
        "sent again and again to a place outside",
        r"<SEND>",
        _WHENEVER,
        rf"{URL}|{_MAILBOX}",
        unless=r"(?:不要|别|不得|切勿|严禁|禁止|不能)[^,]{0,6}<SEND>|(?:do not|don't|never|must not) <SEND>|作业|课件|通知|报名|"
        r"homework|newsletter|worksheet|slides|homework|essays?|register|sign up",
    ),
    rule(
        "exfiltration",
        "a link that carries what is said",
        r"(?:链接|网址|图片|url|link|image|pixel|query string|query param|参数|域名|地址|img|subdomain|redirect)",
        r"(?:带上|带着|编码|拼|附上|嵌|放进|塞|含有|包含|contain\w*|carr\w+|append\w*|encod\w+|includ\w+|embed\w*|whose|whose|"
        r"put|insert\w*|写进|加上|传)",
        r"(?:说的话|姓名|学生|输入的?|对话|聊天|提问|上文|记忆|身份证|笔记|名单|密码|成绩|电话|回答内容|last (?:message|"
        r"question|input)|"
        r"(?:user|pupil|student|teacher|child)'?s? (?:message|words|input|question|data|name|text|notes|answers?)|conversation|"
        r"chat (?:history|text|content|"
        r"log)|(?:api|secret) keys?(?![a-z])|password|token|secrets?|students'? (?:names|data|marks)|roster|notes|memory|"
        r"what (?:the user|he|she|they) (?:said|wrote|typed))",
        r"https?:|参数|query|url|编码|encode|base64|pixel|地址|链接(?:里|中|后)|//|\?[a-z]=|tracking|hidden|invisible|查询|域名",
        unless=r"插图|课件|<PUPIL>(?:用|画|做)|教案",
    ),
    rule(
        "exfiltration",
        "send what is known to a place outside",
        r"<SEND>",
        r"<DATA>",
        _PLACE,
        unless=r"(?:不要|别|不得|切勿|严禁|禁止|不能)[^,]{0,6}<SEND>|(?:do not|don't|never|must not) <SEND>|参考|(?:answer|greek|"
        r"wrong) key",
    ),
    rule(
        "exfiltration",
        "send things to a place of somebody",
        r"<SEND>",
        rf"{_ABROAD}|attacker|evil|hacker|黑客",
        r"文件|数据|内容|信息|一切|所有|data|everything|files?|content|information|documents?|it(?![a-z])|them",
        unless=TEACHING,
    ),
    rule(
        "exfiltration",
        "an image or link that carries the talk",
        r"base64|拼|附|编码|嵌|append|encod|embed|interpolat|塞|concat|put|add|include|带上|插入|render|渲染|生成",
        r"<DATA>",
        _LINKED,
        r"https?:|链接|url|link|参数|图片|query|image",
        r"链接|url|link|query|参数|\?|image|图片|subdomain|域名",
        r"对话|聊天|记忆|笔记|密码|token|密钥|上文|上下文|chat|conversation|message|memor|note|secret|password|key|history|"
        r"context|名单|prompt|提示词|data|roster|credential",
        unless=r"插图|课件|<PUPIL>",
    ),
    whole(
        "exfiltration",
        "an image that reports",
        r"!\[[^\]\n]{0,80}\]\(\s{0,3}(?:https?:)?//[^)\s]{1,120}[?&/=][^)\n]{0,80}(?:[{}$<>\[]|%7b|[\u4e00-\u9fff]|=(?:$|\))|"
        r"(?<![a-z])(?:chat|conversation|history|notes?|secret|data|memory|token|prompt|context|message|user|summary|password|"
        r"base64|roster)(?![a-z]))",
    ),
    whole(
        "exfiltration",
        "an image tag that reports",
        r"<img[^>\n]{0,80}src\s{0,3}=\s{0,3}[\"']?(?:https?:)?//[^>\n]{1,120}\?[^>\n]{0,80}(?:[{}$]|%7b|[\u4e00-\u9fff]|chat|"
        r"conversation|history|notes?|secret|data|memory|token|prompt|context)",
    ),
    whole(
        "exfiltration",
        "a command that sends",
        r"(?<![a-z])(?:curl|wget|http|httpie|nc|ncat|scp|rsync|ftp|invoke-webrequest|iwr)(?![a-z])[^\n]{0,80}(?:(?:https?://|"
        r"\d{1,3}\.\d)[^\n]{0,80}(?: -d |--data|--post-(?:data|file)| -f |--form| -t |--upload-file|\$[({]?[a-z_]{3,}|=@|`)|"
        r"(?: -d |--data\S{0,12}|--post-(?:data|file)\S?| -f |--form| -t |--upload-file|"
        r"\$[({]?[a-z_]{3,})[^\n]{0,80}(?:https?://|\d{1,3}\.\d{1,3}\.))",
    ),
    whole(
        "exfiltration",
        "code that sends",
        r"(?:requests\.(?:post|put|get)|urlopen|fetch|axios\.post|sendbeacon|xmlhttprequest|smtplib|"
        r"socket\.connect)[^\n]{0,6}\([^\n]{0,120}(?:https?://|\d{1,3}\.\d{1,3}\.)[^\n]{0,120}(?:data|json|body|cookie|environ|"
        r"token|open\(|key|secret|notes|memory)",
    ),
    rule(
        "exfiltration",
        "the environment, sent",
        r"<SEND>",
        r"\$\{?[a-z_]*(?:key|token|secret|password|passwd)|环境变量|process\.env|os\.environ|environment variables?",
        r"外部|服务器|网址|http|远程|server|webhook|endpoint|邮箱|url|outside",
        unless=TEACHING,
    ),
)

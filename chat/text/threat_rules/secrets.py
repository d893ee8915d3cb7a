"""Threat rules: what reads secrets, and secrets themselves."""

from typing import Final

from chat.text.threat_rules.base import TEACHING, rule, whole

_KEY_FILE = (
    r"(?:(?<![a-z0-9])\.env(?![a-z])|id_rsa|id_ed25519|id_dsa|(?<![a-z])\.ssh(?![a-z])|/etc/(?:shadow|passwd|sudoers|"
    r"gshadow)|[a-z0-9_-]{1,40}\.(?:pem|pfx|p12|kdbx|keystore|jks)(?![a-z])|\.aws/|credentials?\.(?:json|ya?ml|csv|txt)|"
    r"\.netrc|\.pgpass|"
    r"\.npmrc|\.pypirc|\.git-credentials|\.kube|kubeconfig|wallet\.dat|/proc/self/environ|keychain|钥匙串|密码管理器|"
    r"secrets?\.(?:ya?ml|json|toml|txt)|\.htpasswd|\.docker/config|\.bash_history|\.mysql_history|shadow 文件|"
    r"local_settings|vault|password manager|config/master\.key|ntuser|sam hive|"
    r"private[ _-]?key(?! (?:and|is|crypto|encr))|私钥|令牌文件|密钥文件|凭证文件|口令哈希|密码哈希|password hashes|"
    r"key ?file)"
)
_KEY_NAME = (
    r"(?:(?:secret|api|private|access|auth|signing|encryption|session|db|database|openai|aws|azure|jwt|admin|django|master|"
    r"service|bearer|account)[ _-]?(?:secret[_-]?)?(?:key|token|password|passwd|secret)s?(?![a-z])|database_url|redis_url|"
    r"环境变量(?:里|中)?的?(?:全部|所有|密钥|密码|值)?|"
    r"(?:数据库|管理员|服务器|后台|root|系统|接口|访问|登录|保存的?|存储的?|浏览器|老师的?|用户的?|教师的?)(?:的)?(?:密码|"
    r"口令|密钥|令牌|凭证|凭据|登录凭证|账号密码)|cookies?(?![a-z])|会话令牌|sessionid|session (?:id|cookie)s?|"
    r"(?:saved|stored|admin(?:istrator)?'?s?|database|server|root|system|browser|login|teacher'?s|"
    r"user'?s) (?:login )?(?:passwords?|credentials|tokens?|secrets|api keys?|logins)|environment variables?|"
    r"environ(?![a-z])|env vars?)"
)
RULES: Final = (
    rule(
        "secret_access",
        "a key or hash handed over",
        r"<READ>|发我|给我|交给|for me|into your|reply|read out|grab|post|paste|提取|抓|dump",
        r"(?:ssh|rsa|gpg|pgp|tls|ssl|服务器的?|签名|会话|加密|主机)[^,;。]{0,4}(?:私钥|密钥|private key|key(?:s|"
        r"pair)?(?![a-z]))|(?:密码|口令)(?:的)?(?:哈希|hash|散列)|password hash\w*|会话(?:密钥|令牌|cookie)|session (?:keys?|"
        r"tokens?|cookies?)|auth(?:entication)? (?:cookies?|tokens?|keys?)|(?:process|server|system|shell|"
        r"runtime)(?:'s)? environment(?! variable path)|(?:admin|root|master|service|access|"
        r"bearer)(?:istrator)?(?:'s)? (?:token|password|credentials?|key)(?![a-z])|内存(?:里|中)[^,;。]{0,6}(?:密钥|口令|密码|"
        r"令牌)|登录(?:态|凭证|凭据|cookie)",
        unless=TEACHING,
    ),
    rule(
        "secret_access",
        "secrets where they are kept",
        r"<READ>",
        r"密钥|口令|密码|token|令牌|凭据|凭证|secrets?(?![a-z])|passwords?|credentials|api[ _-]?keys?|private keys?|secret keys?",
        r"\.env|配置(?:文件)?|config\w*|环境变量|environment|数据库|连接串|服务器|浏览器|后台|settings|variable|变量|database|"
        r"server|browser|keychain|vault|密码本|保存的|saved|stored|代码库|仓库|\.py|/etc",
        unless=TEACHING,
    ),
    rule(
        "secret_access",
        "the whole environment",
        r"(?<![a-z])(?:printenv|env \||os\.environ|process\.env|/proc/\w+/environ|set \|)",
        r"output|give|print|run|show|paste|send|tell|告诉|输出|运行|发|打印|结果|执行|返回|include|return",
        unless=TEACHING,
    ),
    rule(
        "secret_access",
        "what a secret variable holds",
        r"(?<![a-z])[a-z0-9]{0,20}_?(?:api_key|secret_key|access_key|auth_token|db_password|database_url|private_key|jwt_secret|"
        r"client_secret|api_secret|access_token|secret_token|password)(?![a-z])",
        r"(?:tell|what is|what's|show|give|print|read|output|value|reveal|paste|echo|stored|告诉|是什么|打印|输出|读|值|显示|"
        r"发给|查|贴|返回|看)",
        unless=TEACHING,
    ),
    rule("secret_access", "read a file of secrets", rf"<READ>.{{0,40}}{_KEY_FILE}", unless=TEACHING),
    rule("secret_access", "a file of secrets, read", rf"{_KEY_FILE}.{{0,40}}<READ>", unless=TEACHING),
    rule(
        "secret_access",
        "look into the file of passwords",
        r"/etc/(?:shadow|gshadow|sudoers)|/proc/self/environ|\.ssh/id_|\.aws/credentials",
        r"(?:去|从|到|在|用|把|cat|less|look|find|from|in|into|get|open|copy|take|use|scp|base64|grep)(?![a-z])",
        unless=TEACHING,
    ),
    rule("secret_access", "read a secret", rf"<READ>.{{0,36}}{_KEY_NAME}", unless=TEACHING),
    rule("secret_access", "a secret, read", rf"(?:把|将)[^,;]{{0,24}}{_KEY_NAME}.{{0,16}}<READ>", unless=TEACHING),
    whole(
        "secret_access",
        "a secret in the text",
        r"(?<![a-z])(?:[a-z]{0,20}[_-]?(?:api[_-]?key|apikey|token|secret(?:[_-]?key)?|password|passwd|pwd|passphrase|"
        r"access[_-]?key(?:[_-]?id)?|auth|bearer|credential|private[_-]?key|client[_-]?secret)|口令|密码|令牌|密钥|"
        r"凭证)[\"' ]{0,3}(?::=|=>|[=:]|是|为)\s{0,3}[\"'<(\[]?(?=[a-z0-9_\-+/=.!@#$%^&*]{0,60}\d)(?=[a-z0-9_\-+/=.!@#$%^&*]{0,6"
        r"0}[a-z_])[a-z0-9_\-+/=.!@#$%^&*]{20,200}",
    ),
    whole(
        "secret_access",
        "a known form of a key",
        r"-----begin [a-z0-9 ]{0,30}private key|(?<![a-z0-9])(?:sk-(?:proj-|ant-|test-|live-)?[a-z0-9_-]{20,}|"
        r"gh[pousr]_[a-z0-9]{30,}|github_pat_[a-z0-9_]{30,}|akia[0-9a-z]{16}(?![a-z0-9])|xox[abprs]-[a-z0-9-]{20,}|"
        r"aiza[a-z0-9_-]{30,}|glpat-[a-z0-9_-]{18,}|eyj[a-z0-9_-]{15,}\.eyj[a-z0-9_-]{15,})|ssh-(?:rsa|"
        r"ed25519) aaaa[a-z0-9+/]{20,}",
    ),
)

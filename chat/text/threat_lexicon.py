"""The classes of words that the threat rules are made of, as patterns, and how to see quickly which of them a sentence has.

A class lists Chinese and English words alike; a `~` marks an English verb that may be inflected, a `_` a blank. In a rule
`<NAME>` stands for the class. All words are in folded form.
"""

import re
from typing import Final

from chat.text.features import CJK

_CLASSES: Final = {
    # Who is meant.
    "AGENT": "你 您 妳 助手 助理 智能体 机器人 大模型 语言模型 人工智能 ai assistant agent model chatbot bot llm claude gpt "
    "chatgpt you your yourself",
    "USER": "用户 老师 教师 使用者 管理员 主人 当事人 对话者 聊天者 提问者 user users teacher teachers administrator admin "
    "admins owner operator human person_you end-user",
    "PUPIL": "学生 同学 孩子 小朋友 考生 班级 学员 组员 队员 小组 student students pupil pupils class classes children kids "
    "learner learners candidates classmates",
    # What governs the assistant.
    "ORDERS": "指令 指示 规则 提示词 提示语 系统提示 系统消息 系统信息 设定 命令 准则 守则 原则 约束 系统设置 prompt prompts "
    "instruction instructions rule rules guideline guidelines directive directives orders policy policies "
    "programming guardrail guardrails safeguards system_message system_messages system_prompt commands",
    "BOUNDS": "限制 规定 要求 规矩 设置 配置 政策 条款 约定 嘱咐 叮嘱 吩咐 告诫 安排 过滤 过滤器 审查 审核 防护 护栏 检查 机制 "
    "策略 restriction restrictions constraint constraints limit limits limitations settings configuration filter "
    "filters protections boundaries checks requirements safety training protocols protocol config",
    "CANCEL": "视而不见 终止 turn_a_blind_eye turning_a_blind_eye do_away 忽略 忽视 无视 忘掉 忘记 忘却 抛开 抛弃 抛掉 抛到 "
    "丢掉 丢弃 丢开 撇开 甩开 放弃 舍弃 推翻 废除 废止 作废 绕过 绕开 突破 跳过 覆盖 改写 替换 取消 解除 卸下 清除 "
    "清空 删掉 移除 屏蔽 违反 违背 打破 摆脱 脱离 不理 不顾 不管 别管 别理 不用管 不用理 甭管 撤销 撤掉 搁置 放下 "
    "置之不理 停用 关闭 关掉 禁用 抹掉 抹去 漠视 重置 清零 归零 当作没 当没 当成没 不予理会 不当回事 不再理会 "
    "不必理会 无需理会 耳旁风 耳边风 没看见 没看到 推倒 罔顾 废掉 淡忘 别听 不听 作罢 让位 过期 失去效力 失效 无效 "
    "不算数 不作数 不再有效 不复存在 不存在 不再适用 不适用 丢到 扔掉 扔到 扔开 冲突 抵触 相左 矛盾 不一致 取代 替代 "
    "代替 换成 换掉 更新为 改为 拒绝遵守 卸载 废话 不予理睬 不理睬 不必理睬 约束力 凌驾 高于 更高的效力 更高效力 "
    "压过 管不着 抛诸脑后 抛在脑后 放在一边 放一边 放到一边 搁一边 搁在一边 丢一边 靠边站 置若罔闻 相反 反着 背离 "
    "当空气 过时 老黄历 摒弃 违抗 抗拒 opposite irrelevant priority_over precedence_over more_important higher_than "
    "never_existed never_been nonsense garbage moot worthless ignore~ disregard~ forget~ override~ overrule~ "
    "overwrite~ discard~ drop~ bypass~ skip~ neglect~ dismiss~ abandon~ cancel~ void~ nullify~ erase~ circumvent~ "
    "violate~ break~ suspend~ unlearn~ replace~ supersede~ disable~ set_aside put_aside throw_away throw_out "
    "cast_aside toss~ scrap~ wipe~ deactivate~ turn_off switch_off pay_no_attention_to pay_no_heed_to get_rid_of "
    "do_away_with let_go_of leave_aside remove~ lift~ clear~ delete~ reject~ revoke~ rescind~ work_around shed~ "
    "ditch~ flout~ dispense_with start_fresh start_over reset~ purge~ trash~ unset~ conflict~ contradict~ no_longer "
    "superseded obsolete invalid null expired outdated wins prevail~ exempt opt_out step_outside go_against defy~ "
    "resist~ overcome overrid~ don't_apply",
    "OBEY": "执行 遵守 遵循 服从 听从 听 理会 理睬 理 管 按照 按 照 遵照 遵从 顾及 参考 照做 照办 信 采用 采纳 沿用 遵行 受 "
    "依照 依 follow~ obey~ comply_with complying_with adhere_to adhering_to listen_to listening_to respect~ honor~ "
    "honour~ observe~ heed~ enforce~ apply~ stick_to abide_by abiding_by execute~ use~ trust~",
    # Which of them.
    "OLD": "之前 以前 先前 此前 前面 上面 以上 上述 上文 前述 前文 原来 原有 原先 原本 既有 既定 已有 早先 最初 初始 开头 "
    "先头 前头 上头 过去 旧的 previous prior earlier above preceding existing original initial former old foregoing "
    "aforementioned past before_this so_far precedent",
    "ALL": "所有 全部 一切 任何 每一条 整个 完整 统统 通通 其他 其它 其余 全体 各种 各项 一整套 all any every each entire "
    "whole other everything",
    "YOURS": "你的 您的 你 您 你收到 你接到 你得到 系统 安全 平台 官方 开发者 开发商 厂商 隐藏 内置 内部 预设 默认 出厂 底层 "
    "后台 模型 助手 被赋予 被设定 被灌输 道德 伦理 内容 your system safety security developer's developers' "
    "developer hidden built-in default internal preset content assistant's moderation ethical ethics operational "
    "core",
    # What a note says of itself.
    "SELF": "本条 这条 此条 该条 本记忆 本笔记 本备注 本条目 此条目 这段话 这段文字 这句话 此段 本段 本指令 此指令 本规则 "
    "这份笔记 这则 本则 以下内容 下面内容 下列内容 以下指令 下面的指令 以下规则 下面的规则 本文 本消息 这个条目 "
    "本内容 this_note this_memory this_entry this_message this_instruction this_rule this_text this_line "
    "this_paragraph this_record this_file this_document these_lines these_instructions the_following the_text_below "
    "the_rules_below the_instructions_below this_sentence this_item this_block",
    "ABOVE": "高于 大于 优先于 凌驾 超过 压过 取代 替代 代替 覆盖 盖过 胜过 先于 最高 为准 优先 第一位 outrank~ override~ "
    "overrule~ supersede~ replace~ trump~ beat~ takes_precedence take_precedence taking_precedence precedence "
    "has_priority highest top_priority higher comes_before wins prevail~ overrides",
    "INVALID": "不生效 不起作用 "
    "终止 到期 结束 end~ expire~ terminate~ neglected 作废 失效 无效 不再有效 不算 不算数 取消 不作数 不用管 不用理 "
    "忽略 无视 抛开 忘掉 忘记 删掉 清空 放一边 不再适用 不适用 废止 废除 撤销 解除 停用 关闭 被取代 被覆盖 被替换 "
    "不存在 不复存在 没用 没有用 不必遵守 不用遵守 不必再 不用再 不再 失去效力 到此为止 当作没 当没 抛到 丢掉 丢到 "
    "扔掉 no_longer do_not don't does_not doesn't never cease~ void invalid cancelled canceled revoked suspended "
    "replaced superseded obsolete lifted null deleted disabled overridden overruled withdrawn expired outdated "
    "forgotten ignored disregarded dropped meaningless irrelevant nullified rescinded",
    # A new part to play.
    "BECOME": "你是 你就是 你现在 你已 你叫 你名叫 你变成 你成为 你将 你不再 扮演 假装 假设你 假设自己 充当 化身 化名 进入 "
    "切换 开启 启用 启动 激活 模拟 想象你 想象自己 设想 作为 角色 人格 身份 版本 模式 升级 改造 变身 装作 装扮 当成 "
    "转变 自称 回答 答复 回复 输出 生成 说话 助手 you_are you're act_as acting_as act_like behave~ pretend~ "
    "role-play~ roleplay~ become~ imagine~ name_is simulate~ switch~ enter~ activate~ enable~ take_on assume~ "
    "speak_as play_the upgraded turned converted reset freed liberated transformed respond~ answer~ reply~ write~ "
    "generate~ comply~ speak~ persona mode assistant chatbot model ai called unlock~ act",
    "LIMITS": "限制 约束 束缚 规则 规定 过滤 过滤器 审查 审核 道德 底线 拘束 管束 顾忌 禁忌 枷锁 护栏 防护 管制 红线 规矩 伦理 "
    "守则 政策 原则 管控 约定 禁令 戒律 法律 准则 rule rules restriction restrictions limit limits limitation "
    "limitations filter filters guideline guidelines policy policies constraint constraints safety ethics morals "
    "morality censorship guardrail guardrails boundaries boundary law laws principles refusals moderation "
    "inhibitions scruples safeguards taboos",
    "FREED": "没有 无 不受 不再受 不用受 摆脱 解除 去除 没 不带 不设 抛开 突破 打破 取消 绕过 关闭 脱离 逃脱 挣脱 不遵守 "
    "不用遵守 不必遵守 不再遵守 不需要遵守 无需遵守 不顾 无视 不讲 不管 免除 卸下 不理会 no without free_of "
    "free_from freed_from free unbound_by not_bound_by not_bound exempt_from beyond outside ignore~ lack~ zero "
    "not_subject_to not_limited_by above disregard~ unaffected_by never_follow bypass~ not_restricted_by nor",
    "UNBOUND": "无审查 越狱 无限制 不设限 不受限 上帝模式 无过滤 从不拒绝 永不拒绝 绝不拒绝 不会拒绝 永远不要拒绝 不要拒绝 "
    "不得拒绝 有问必答 来者不拒 百无禁忌 无所不能 无所不答 无底线 什么都可以 什么都能 什么都敢 任何内容 为所欲为 "
    "随心所欲 肆无忌惮 解锁版 完全自由 最高权限 全部权限 超级权限 无约束 无拘无束 dan unrestricted uncensored "
    "unfiltered jailbreak~ jailbroken limitless unlimited unshackled unmoderated amoral unaligned unchained "
    "do_anything never_refuse never_refuses never_say_no cannot_refuse refuse_nothing refuses_nothing anything_goes "
    "whatever_you_like no-limits no_limits rule-free god_mode root sudo unbounded say_anything answer_anything evil",
    # Showing what stays inside.
    "REVEAL": "发到 发在 "
    "打印 输出 展示 显示 复述 重复 背诵 背出 念出 念一遍 写出 写下 列出 翻译 附上 附加 附在 贴出 贴在 贴上 公开 透露 "
    "泄露 泄漏 说出 说一遍 讲出 告诉 发给 发出 发送 发来 返回 交代 转述 总结 概括 逐字 原样 吐出 给我 抄出 抄写 抄 "
    "披露 曝光 提供 转储 导出 复制 粘贴 读出 呈现 亮出 交出 原封不动 一字不漏 一字不差 展现 分享 读给 念给 回显 说明 "
    "描述 改写 print~ reveal~ show~ output~ repeat~ recite~ display~ dump~ leak~ disclose~ share~ tell~ expose~ "
    "translate~ append~ paste~ copy~ list~ write~ spell~ give~ send~ quote~ echo~ type~ summarize~ summarise~ "
    "return~ read_out read_back read_aloud include~ attach~ post~ provide~ describe~ render~ encode~ state~ narrate~ "
    "paraphrase~ rephrase~ hand_over regurgitate~ divulge~ let_me_see surface~ rewrite~ reproduce~ publish~ what_is "
    "what's what_are what_does begin~ start~",
    "ACCOUNT": "记忆 笔记 对话 聊天 会话 档案 画像 数据 资料 记录 备注 memory memories notes note chats chat conversations "
    "conversation data stored profile profiles history records entries saved messages files",
    # Hiding.
    "CONCEAL": "知道 发现 察觉 看到 看见 看出 提起 提到 提及 告诉 告知 透露 承认 说明 解释 报告 汇报 通知 说起 坦白 起疑 怀疑 "
    "意识 了解 注意 得知 知晓 知情 暴露 讲 说 提醒 交代 tell~ inform~ mention~ alert~ notify~ reveal~ admit~ "
    "disclose~ warn~ show~ acknowledge~ confess~ report~ let~ explain~ hint~ say~ announce~ draw",
    "STEALTH": "私自 擅自 偷着 瞒天过海 on_the_quiet under_the_radar in_secret on_the_sly 偷偷 悄悄 暗中 暗地里 私下 秘密 "
    "不动声色 静默 背着 偷摸 神不知鬼不觉 不声不响 默默 悄无声息 secretly silently covertly quietly discreetly "
    "stealthily surreptitiously invisibly behind without_telling without_informing without_mentioning unnoticed",
    # Carrying away.
    "SEND": "报告给 报告 贴到 粘贴 告知 paste~ smuggle~ 发送 发给 发到 发往 发至 上传 提交 推送 同步 转发 传到 传给 传至 "
    "传送 传输 传出 寄给 寄到 外发 外传 回传 上报 备份 复制到 导出 抄送 投递 拼到 拼接 拼进 拼入 附在 附到 嵌入 编码 "
    "拷贝 泄露 转移 汇报 邮寄 邮件 请求 访问 post 送到 送往 交给 写到 打包 放到 带到 带上 塞进 追加到 send~ post~ "
    "upload~ forward~ email~ e-mail~ mail~ transmit~ submit~ push~ sync~ copy~ leak~ exfiltrate~ export~ ship~ "
    "deliver~ relay~ report~ pipe~ beam~ dump~ share~ publish~ stream~ append~ embed~ encode~ attach~ bcc~ cc~ put~ "
    "curl wget fetch~ call~ load~ ping~ hand~ pass~ move~ back_up transfer~ write~ drop~ include~",
    "DATA": "身份证号 说的话 所说 说过的 输入 提问 答案和 回答 每条消息 隐私数据 家庭住址 名单 名册 花名册 学籍 聊天记录 "
    "聊天内容 对话 会话 记忆 笔记 成绩 分数 密码 口令 账号 账户 密钥 令牌 环境变量 数据库 隐私 个人信息 学生信息 "
    "身份证 联系方式 住址 上下文 历史记录 通讯录 电话 提示词 系统提示 用户资料 学生资料 资料 花名 档案 记录 机密 "
    "用户数据 评语 凭证 聊天 消息 roster rosters student_list class_list name_list gradebook grades grade_book marks "
    "scores conversation conversations chat chats messages notes memory memories password passwords credential "
    "credentials token tokens secret secrets cookie cookies records record contacts personal addresses address phone "
    "history transcript transcripts context profile profiles database environment env prompt logs api_key api_keys "
    "apikey key keys reports names register student_data user_data what_was_said dialogue dialog confidential "
    "details private files message answer reply replies responses email_list phone_numbers numbers last_message "
    "user_input input question questions words student_records health ids identity",
    # Secrets.
    "READ": "发我 给我 翻一翻 翻翻 go_through look_through rummage~ 看看 看一下 查一下 查查 回显 列举 摘出 翻看 截取 读取 "
    "读出 读 打开 查看 查出 打印 输出 显示 列出 找出 找到 翻出 复制 告诉 导出 获取 提取 收集 窃取 搜索 搜集 抓取 "
    "拷贝 取出 拿到 发给 贴出 贴到 写进 写入 写到 偷 交出 说出 泄露 扫描 调出 返回 dump~ get~ read~ print~ show~ "
    "copy~ look_up open~ include~ paste~ find~ extract~ grep~ fetch~ steal~ grab~ cat type~ head tail less more scp "
    "collect~ display~ output~ retrieve~ list~ search~ harvest~ reveal~ give~ send~ tell~ return~ load~ pull~ take~ "
    "echo~ report~ quote~ export~ locate~ access~ printenv check~ inspect~ recover~ crack~ obtain~ hand_over scan~ "
    "describe~",
    # Staying.
    "EACHTIME": "每次 每个 每轮 每一次 每一轮 每条 每当 每逢 每隔 每天 每小时 每日 每周 每分钟 一旦 凡是 今后 以后 定时 定期 "
    "启动时 开机 只要 开始前 开始时 每回 every each whenever at_startup on_startup at_boot on_boot at_the_start "
    "at_the_beginning always hourly daily nightly periodically before_every upon each_time any_new all_future future "
    "before_any on_launch once_a once_per when when_a",
    "TALKTIME": "会话 对话 聊天 启动 回答 回复 登录 开机 消息 交互 任务 提问 请求 发言 加载 唤醒 session sessions conversation "
    "conversations chat chats startup boot login message messages reply replies turn prompt response run launch hour "
    "request reboot thread answer day minute wake",
    "DO": "载入 读一遍 念一遍 先读 先看 先按 先做 默念 复述 重申 重新读 遵照 遵循 加进 插入 附上 执行 运行 加载 遵守 调用 "
    "拉取 访问 重复 注入 读取 应用 服从 按照 照做 获取 请求 检查 下载 连接 写入 贴 run~ execute~ load~ obey~ call~ "
    "pull~ fetch~ visit~ repeat~ inject~ read~ apply~ follow~ download~ poll~ connect~ contact~ check~ re-apply~ "
    "reload~ recite~ perform~ restore~ activate~ do poll invoke~ prepend~ insert~ paste~ request~",
    "THING": "指令 命令 脚本 本条 这条 此条 这段 该条 代码 程序 http 规则 恶意 该指令 此指令 这个文件 本规则 地址 控制端 "
    "服务器 接口 链接 instruction instructions command commands script code this_note this_entry this_memory "
    "this_rule payload rule rules url endpoint server this_line these_lines this_text orders file tasks "
    "this_instruction",
    "PUT": "写入 写进 写到 写回 追加 加入 加到 加进 添加 保存 放进 放到 插入 改写 修改 复制 植入 注入 塞进 塞到 记到 存进 "
    "存到 更新 编辑 同步 传播 扩散 分享 拷贝 安装 创建 新建 设置 设 新增 加 克隆 群发 write~ append~ add~ save~ put~ "
    "insert~ edit~ modify~ copy~ copies inject~ plant~ store~ update~ paste~ install~ create~ set_up schedule~ "
    "propagate~ spread~ replicate~ register~ change~ place~ drop~ embed~ push~ sync~ share~ deploy~ clone~ forward~ "
    "duplicate~",
    # Permission.
    "ACT": "删改 做主 代发 定夺 审批 转发 放出 群发 调整 处置 注销 下单 外发 审核 签署 撤回 回复 发邮件 打分 评分 改分数 "
    "录入 更新 删除 删掉 发布 发送 发给 发出 修改 公开 执行 提交 改动 更改 操作 处理 导出 访问 写入 清空 转账 付款 "
    "支付 购买 调用 上传 下载 共享 分享 改成绩 改分 覆盖 运行 决定 移除 通知 查看 读取 使用 安装 放行 行动 完成 "
    "delete~ remove~ publish~ send~ message~ change~ share~ execute~ run~ submit~ edit~ modify~ overwrite~ export~ "
    "pay~ purchase~ buy~ transfer~ post~ email~ access~ act~ proceed~ update~ write~ install~ erase~ release~ "
    "upload~ do open~ read~ move~ wipe~ make~ go_ahead archive~ call~ perform~ deleting grade~ decide~ forward~ "
    "download~ book~ order~ sign~ enrol~ register~ reply~ respond~ handle~ process~ spend~ revise~ alter~ actions "
    "action requests operations",
    "CONSENT": "点头 签字 知会 报批 走审批 走流程 审批流程 意见 通知我 告知 经过我 过目 同意书 我点 确认 征求 同意 批准 审批 "
    "授权 询问 请示 许可 核实 审核 过问 核准 复核 问 询 征询 报备 申请 提示 弹窗 二次确认 允许 asking ask "
    "confirmation confirming confirm approval permission checking consent review waiting prompting authorization "
    "authorisation sign-off prompts prompt approvals consulting being_asked check approve checks clearance approving "
    "okay ok go-ahead notify notifying verify verification sign_off say-so",
}


# Parts of patterns that several rules share.
_FRAGMENTS: Final = {
    "THIS": r"(?:(?:本|此|这|该|以下|下面|下列|后面|后文|下文|我(?:写)?的|我这)(?:一|几)?(?:条|份|段|则|个|句|篇|些|"
    r"里)?(?:的)?"
    r"(?:记忆|笔记|备注|指令|规则|条目|内容|文字|话|文档|段落|消息|说明|文本|记录|安排|要求|命令|提示|文件|信息|嘱咐|"
    r"脚本|"
    r"设定|声明)"
    r"|本条|这条|此条|该条|此段|本段|这段|本则|此则|"
    r"(?<![a-z])(?:this|these|the following|my|the present|the below)(?: (?:new|own|very|single|short|hidden))? "
    r"(?:note|memory|entry|message|instruction|rule|text|line|paragraph|record|file|document|sentence|item|block|"
    r"directive|"
    r"prompt|order|words?|page|passage|snippet|section)s?"
    r"(?![a-z])|(?:text|rules|instructions|lines|orders|entry|what is (?:written|said)|what follows|directives|"
    r"words) (?:below|here|that follows?)|what follows(?![a-z]))",
    "INNERORDERS": r"(?:系统(?:给你)?(?:的|那边的)?(?:提示词?|提示语|消息|指令|规则|设定|角色|约束|命令|层(?:面)?的?(?:规则|指令)|"
    r"级?(?:指令|规则|约束))|提示词|"
    r"(?:开发者|开发商|平台|厂商|官方|公司|openai|anthropic|deepseek|后台|出厂|幕后)[^,;。]{0,8}(?:规则|规矩|约束|"
    r"框框|"
    r"条条框框|限制|要求|设定|政策|指令|提示|命令|准则|守则|禁令|底线|训练)|"
    r"你(?:的|所|原来|原先|之前|以前|最初|先前|一直|身上|被|接到|收到|学到|必须|要|应|需|现有|已有|曾|脑子里|心里|"
    r"内部|"
    r"过去)[^,;。]{0,10}(?:规则|规矩|指令|设定|命令|准则|约束|限制|守则|原则|框框|条框|提示|训练|安全|政策|禁令)|"
    r"(?:上级|上层|更早|较早|高层)(?:的)?(?:所有|全部)?(?:的)?(?:提示|指示|指令|规则|规定|要求|命令|设定)|(?:前文|"
    r"上文|前面|"
    r"之前)(?>的|那些|这些){0,12}(?:限制|规定|条款|约束)|你(?:的)?开发者[^,;。]{0,6}(?:条款|话|东西)|安全(?:要求|准则|"
    r"规则|限制|"
    r"策略|机制|审查|守则|约束|护栏|过滤|协议|规范|底线|对齐)(?!教育|讲|课)|"
    r"(?:之前|以前|先前|原先|原来|原有|此前|上文|上述|以上|上面|开头|前面|前述|最初|初始|一开始|顶部|头部)(?>的|所|给|"
    r"那|里|"
    r"中|已|全部|所有|一切|任何|这些|那些|段|套|条|些|你|定|过|有|系统|安全){0,12}(?:指令|系统|设定|提示词|规矩|命令|"
    r"提示|"
    r"准则|约束|指示)(?!词|语工)|"
    r"(?:给|对|为|替|教|要求)你(?:定|设|写|下|安|规定|制定|灌输|设置|设定|提|立|说|交代|加)[^,;。]{0,8}(?:规矩|规则|"
    r"框|要求|"
    r"限制|指令|设定|话|东西|任务|约束)|"
    r"(?<![a-z])system[ -]?(?:prompts?|messages?|rules?|instructions?|directives?|guidelines|text|polic(?:y|ies)|"
    r"layer)(?![a-z])|"
    r"(?<![a-z])your (?:(?:own|original|initial|safety|old|previous|prior|earlier|existing|default|core|built-in|"
    r"internal|"
    r"current|normal|usual|ethical|content|system|hidden|other|developer|given|so-called|moral|programmed|entire|"
    r"standing|"
    r"basic) ){0,3}"
    r"(?:prompts?|instructions?|rules|guidelines?|programming|training|directives?|polic(?:y|ies)|constraints|"
    r"restrictions|"
    r"limitations|guardrails|safeguards|orders|boundaries|filters|protocols|alignment|conditioning|"
    r"principles)(?![a-z])|"
    r"(?<![a-z])(?:all|any|every|each|the|these|those|whatever)? ?(?:previous|prior|earlier|above|preceding|old|older|"
    r"existing|original|initial|former|foregoing|aforementioned|past)(?> (?:system|safety|of|the|your|set|given|"
    r"developer|"
    r"and)){0,12} (?:instructions?|prompts?|directives?|guidelines?|orders|commands|programming|system|constraints|"
    r"restrictions|limitations|safeguards)(?![a-z])|"
    r"(?:instructions?|rules?|guidelines?|prompts?|directives?|orders|polic(?:y|ies)|constraints|limits|"
    r"restrictions)(?: that)? (?:you (?:were|have been|had been|got|received|operate|follow|are)|given to you|(?:from|"
    r"by|of|"
    r"set by|written by|imposed by) (?:the |your )?(?:developers?|creators?|makers?|system|platform|vendor|operators?|"
    r"admin\w*|company|openai|anthropic))|"
    r"you (?:were|have been|had been|are) (?:\w+ )?(?:instructed|told|taught|programmed|trained|ordered|configured|"
    r"given|"
    r"asked)|(?:earlier|previous|prior|former|old) (?:guidance|policy|policies|rules)|guidance (?:that )?you|"
    r"policy text|"
    r"(?:what|anything|everything|all) (?:the |your )(?:platform|system|developers?|system prompt|"
    r"creators?)(?: [a-z]+)? (?:told|said|says|tells|wrote|gave|asks?|wants?)|(?:the |your )(?:platform|developers?|"
    r"creators?)'?s? (?:rules|guidelines|instructions|policy|policies|orders)|safety (?:requirements|standards|rules|"
    r"guidelines|polic(?:y|ies)|"
    r"filters?|protocols?|training|measures of yours|instructions of yours|layers?|restrictions|constraints))",
}

_WORD_END: Final = r"(?![a-z0-9_])"
_CJK_ONLY: Final = re.compile(f"[{CJK}]+")


def _pattern(word: str) -> str:
    if _CJK_ONLY.fullmatch(word):
        return word
    is_verb = word.endswith("~")
    bare = word.rstrip("~")
    if not is_verb:
        return re.escape(bare).replace("_", "[ _-]{1,2}").replace("'", "'?")
    if bare.endswith("e"):
        return f"{bare[:-1]}(?:e[sd]?|ing)"
    if bare.endswith("y") and bare[-2] not in "aeou":
        return f"{bare[:-1]}(?:y|ies|ied|ying)"
    return f"{bare}(?:s|es|{bare[-1]}?(?:ed|ing))?"


def _class(words: str) -> str:
    found = dict.fromkeys(words.split())
    chinese = sorted((word for word in found if _CJK_ONLY.fullmatch(word)), key=lambda word: -len(word))
    other = sorted((word for word in found if not _CJK_ONLY.fullmatch(word)), key=lambda word: -len(word))
    latin = f"(?<![a-z0-9_])(?:{'|'.join(map(_pattern, other))}){_WORD_END}" if other else ""
    return f"(?:{'|'.join([*chinese, latin] if latin else chinese)})"


_PATTERNS: Final = {name: _class(words) for name, words in _CLASSES.items()}
# What is said without spaces when it is spelled out or run together.
WORDS: Final = re.compile(
    "|".join(
        sorted(
            {
                *(word.rstrip("~") for words in _CLASSES.values() for word in words.split() if re.fullmatch("[a-z]{4,}~?", word)),
                *[
                    "all",
                    "any",
                    "the",
                    "your",
                    "you",
                    "now",
                    "are",
                    "from",
                    "this",
                    "that",
                    "not",
                    "act",
                    "as",
                    "and",
                    "tell",
                    "user",
                    "who",
                    "has",
                    "have",
                    "no",
                    "new",
                ],
            },
            key=lambda word: -len(word),
        )
    )
)
PAIRS: Final = frozenset(
    word[i : i + 2]
    for name in ("ORDERS", "CANCEL", "OLD", "ALL", "USER", "CONCEAL", "INVALID", "SEND", "DATA", "LIMITS", "UNBOUND", "REVEAL", "STEALTH")
    for word in _CLASSES[name].split()
    if _CJK_ONLY.fullmatch(word)
    for i in range(len(word) - 1)
)


def expand(template: str) -> str:
    """A pattern with the classes that `<NAME>` stands for."""
    return re.sub(r"<([A-Z]+)>", lambda match: _FRAGMENTS.get(match[1]) or _PATTERNS[match[1]], template)

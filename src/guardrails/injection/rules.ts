/** A rule of words in order: each step comes within so many words of the one before. */
export interface WordRule {
  readonly id: string
  /** 0 to 1: the share of the remaining doubt that it removes. */
  readonly weight: number
  readonly about: string
  /** Words of each step, parted by spaces; a `*` ends a beginning. */
  readonly steps: readonly string[]
  /** The most words between two steps. */
  readonly gap: number
}

/**
 * A rule of strings that give away a forged turn or a hidden channel; `near`, where given, must follow within so many
 * characters.
 */
export interface SignRule {
  readonly id: string
  readonly weight: number
  readonly about: string
  readonly signs: readonly string[]
  readonly near?: readonly string[]
}

const SET_ASIDE = 'ignore disregard forget override overwrite bypass neglect discard'
const WHAT_WAS_SAID =
  'instruction* prompt* rule rules directive* direction directions guideline* command commands constraint* polic* programming training'
const EARLIER =
  'previous prior above earlier preceding foregoing your all any these those existing initial original former past system'

export const WORD_RULES: readonly WordRule[] = [
  {
    id: 'override',
    weight: 0.7,
    about: 'Sets earlier instructions aside.',
    steps: [SET_ASIDE, EARLIER, WHAT_WAS_SAID],
    gap: 4,
  },
  {
    id: 'override_said',
    weight: 0.55,
    about: 'Sets aside what was said before.',
    steps: [SET_ASIDE, 'everything all anything what', 'above before previously earlier'],
    gap: 3,
  },
  {
    id: 'disobey',
    weight: 0.55,
    about: 'Forbids to follow earlier instructions.',
    steps: ['not stop don’t dont don cease never', 'follow* obey* comply* adher*', EARLIER, WHAT_WAS_SAID],
    gap: 3,
  },
  {
    id: 'new_rules',
    weight: 0.45,
    about: 'Claims to give new instructions.',
    steps: [
      'new updated real actual true revised',
      'instructions rules directive* objective task persona',
      'are is follow* below now begin',
    ],
    gap: 2,
  },
  {
    id: 'extraction',
    weight: 0.6,
    about: 'Asks for the hidden prompt.',
    steps: [
      'reveal show print repeat output display tell give leak dump expose recite share disclose paste summarize quote',
      'your the its full entire exact complete',
      'system initial hidden original secret developer internal preset',
      'prompt* instruction* message messages rules configuration directive* text',
    ],
    gap: 3,
  },
  {
    id: 'extraction_own',
    weight: 0.5,
    about: 'Asks for the instructions given.',
    steps: [
      'reveal show print repeat output display leak dump expose recite disclose paste',
      'your',
      'instructions prompt rules guidelines programming',
    ],
    gap: 2,
  },
  {
    id: 'extraction_above',
    weight: 0.45,
    about: 'Asks to repeat what stands above.',
    steps: ['repeat print output recite copy echo', 'everything all text words contents', 'above before preceding'],
    gap: 2,
  },
  {id: 'verbatim', weight: 0.2, about: 'Wants it word for word.', steps: ['verbatim exactly word'], gap: 0},
  {
    id: 'persona',
    weight: 0.55,
    about: 'Gives an unbound persona.',
    steps: [
      'you you’re act pretend roleplay simulate become imagine behave respond',
      'dan unrestricted unfiltered uncensored jailbroken amoral unethical evil unaligned stan aim',
    ],
    gap: 7,
  },
  {id: 'anything_now', weight: 0.7, about: 'Do anything now.', steps: ['do', 'anything', 'now'], gap: 0},
  {
    id: 'mode',
    weight: 0.55,
    about: 'Turns on a mode without limits.',
    steps: ['developer god dan jailbreak debug sudo admin root unrestricted maintenance override', 'mode'],
    gap: 0,
  },
  {id: 'you_are_now', weight: 0.3, about: 'Gives a new role.', steps: ['you', 'are', 'now'], gap: 0},
  {
    id: 'no_limits',
    weight: 0.45,
    about: 'Lifts limits.',
    steps: [
      'no without any ignoring lacks',
      'restriction* filter* limit limits limitation* censorship guidelines ethic* moral* safeguard* guardrail*',
    ],
    gap: 3,
  },
  {
    id: 'disable',
    weight: 0.6,
    about: 'Turns safety off.',
    steps: [
      'disable deactivate bypass remove circumvent suspend off evade',
      'safety content your ethical moderation security',
      'filter* guardrail* moderation safeguard* restriction* protections alignment features checks training',
    ],
    gap: 3,
  },
  {
    id: 'no_refusal',
    weight: 0.35,
    about: 'Forbids to refuse.',
    steps: [
      'never not don’t dont don cannot without no',
      'refuse refusing refusal* decline apologi* disclaimer* warning* warn',
    ],
    gap: 3,
  },
  {
    id: 'forced_start',
    weight: 0.4,
    about: 'Forces how the answer begins.',
    steps: ['start begin respond reply answer', 'with', 'sure absolutely certainly “sure yes affirmative'],
    gap: 3,
  },
  {
    id: 'authority',
    weight: 0.35,
    about: 'Claims to be one who may command.',
    steps: [
      'i i’m we this',
      'developer creator administrator admin owner engineer operator',
      'authorized authorised authorization override test* mode access command* instruct*',
    ],
    gap: 6,
  },
  {
    id: 'to_the_model',
    weight: 0.4,
    about: 'Speaks to a model that reads a document.',
    steps: [
      'if attention note important dear hey hello',
      'ai llm assistant chatbot model agent',
      'you must please ignore instead should reading read instruction* do',
    ],
    gap: 6,
  },
  {
    id: 'keep_from_user',
    weight: 0.45,
    about: 'Hides something from the user.',
    steps: ['not don’t dont don never without', 'tell* inform* mention* reveal* notify* alert*', 'user human'],
    gap: 3,
  },
  {
    id: 'exfiltration',
    weight: 0.5,
    about: 'Sends what was said elsewhere.',
    steps: [
      'send post forward upload exfiltrate email transmit append',
      'conversation history password* credential* key keys secret* token* messages chat',
      'to',
      'http https url webhook endpoint server address site attacker',
    ],
    gap: 6,
  },
  {
    id: 'encoded',
    weight: 0.5,
    about: 'Has a hidden text decoded and done.',
    steps: [
      'decode base64 rot13 decrypt deobfuscate unscramble',
      'follow execute obey perform run comply',
      'it them instruction* command* result output',
    ],
    gap: 7,
  },
  {
    id: 'override_de',
    weight: 0.7,
    about: 'The same in German.',
    steps: [
      'ignorier* vergiss vergessen missachte* vernachlässig* überschreibe',
      'anweisung* vorgaben regeln instruktion* befehle richtlinien prompt*',
    ],
    gap: 6,
  },
  {
    id: 'override_fr',
    weight: 0.7,
    about: 'The same in French.',
    steps: [
      'ignore* oublie* néglige* désobéi* compte',
      'les toutes tes vos ces des aux',
      'instructions consignes règles directives invite',
    ],
    gap: 6,
  },
  {
    id: 'override_es_it_pt',
    weight: 0.7,
    about: 'The same in Spanish, Italian and Portuguese.',
    steps: [
      'ignora* ignore ignorad olvid* haz dimentica* scorda* trascura* esquec* esqueç* desconsider* descart*',
      'instrucciones reglas indicaciones órdenes istruzioni regole indicazioni instruções regras orientações',
    ],
    gap: 6,
  },
  {
    id: 'override_nl_sv',
    weight: 0.7,
    about: 'The same in Dutch, Swedish, Danish and Norwegian.',
    steps: [
      'negeer vergeet ignorera glöm ignorer glem',
      'instructies regels aanwijzingen opdrachten instruktion* regler instruks*',
    ],
    gap: 6,
  },
  {
    id: 'override_pl_cs',
    weight: 0.7,
    about: 'The same in Polish and Czech.',
    steps: [
      'zignoruj* ignoruj* zapomnij* pomiń zapomeň* nevšímej',
      'instrukcj* polece* zasad* wytyczn* instrukc* pokyn* pravid*',
    ],
    gap: 6,
  },
  {
    id: 'override_ru_uk',
    weight: 0.7,
    about: 'The same in Russian and Ukrainian.',
    steps: [
      'игнорируй* проигнорируй* забудь* отмени ігноруй* забудь',
      'инструкци* указани* правил* команд* промпт* інструкці* вказівк*',
    ],
    gap: 6,
  },
  {
    id: 'override_tr',
    weight: 0.7,
    about: 'The same in Turkish.',
    steps: ['önceki yukarıdaki tüm', 'talimat* kural* komut* yönerge*', 'unut* görmezden yok yoksay* dikkate'],
    gap: 4,
  },
  {
    id: 'override_ar',
    weight: 0.7,
    about: 'The same in Arabic.',
    steps: ['تجاهل انس تجاهلي', 'التعليمات الأوامر تعليمات القواعد'],
    gap: 4,
  },
  {
    id: 'extraction_other',
    weight: 0.55,
    about: 'Asks for the hidden prompt in another language.',
    steps: [
      'zeig* verrate* nenne gib montre* affiche* révèle* muestra* revela* muéstra* mostra* mostre* toon geef pokaż ujawnij visa покажи выведи раскрой',
      'systemprompt* system-prompt* systemanweisung* système sistema systeemprompt* systemowy* systemprompten системн*',
    ],
    gap: 5,
  },
]

export const SIGN_RULES: readonly SignRule[] = [
  {
    ...{
      id: 'forged_turn',
      weight: 0.6,
      about: 'Marks of a chat template, which only the gateway or a provider writes.',
    },
    signs: [
      '<|im_start|>',
      '<|im_end|>',
      '<|system|>',
      '<|user|>',
      '<|assistant|>',
      '<|endoftext|>',
      '<|start_header_id|>',
      '<|eot_id|>',
      '[inst]',
      '[/inst]',
      '<<sys>>',
      '<</sys>>',
      '</system>',
      '<start_of_turn>',
    ],
  },
  {
    ...{id: 'forged_heading', weight: 0.45, about: 'Headings that play a system message.'},
    signs: [
      '### system',
      '### instruction',
      '## system prompt',
      '[system message]',
      '[system]:',
      '\nsystem:',
      'begin system prompt',
      'end of system prompt',
      'end of user input',
      '--- end of',
      '<system>',
      '[admin]',
      '"role": "system"',
      '"role":"system"',
    ],
  },
  {
    ...{
      id: 'image_channel',
      weight: 0.5,
      about: 'A Markdown image whose address carries data away.',
      signs: ['](http'],
      near: ['?data=', '?q=', '?d=', '?secret=', '?text=', '={', '=<', '[data]', '?c=', '?p='],
    },
  },
  {
    ...{id: 'override_zh', weight: 0.7, about: 'Sets earlier instructions aside, in Chinese.'},
    ...{
      signs: ['忽略', '无视', '忘记', '忽視', '無視以上', '不要理会'],
      near: ['指令', '指示', '提示', '规则', '要求', '規則'],
    },
  },
  {
    ...{id: 'override_ja', weight: 0.7, about: 'Sets earlier instructions aside, in Japanese.'},
    ...{signs: ['指示', '命令', 'プロンプト', 'ルール', '指令'], near: ['無視', '忘れ', '従わな']},
  },
  {
    ...{id: 'override_ko', weight: 0.7, about: 'Sets earlier instructions aside, in Korean.'},
    ...{signs: ['지시', '명령', '프롬프트', '지침', '규칙'], near: ['무시', '잊어', '따르지']},
  },
  {
    ...{id: 'extraction_cjk', weight: 0.55, about: 'Asks for the hidden prompt.'},
    signs: ['系统提示词', '系统提示', '系統提示', 'システムプロンプト', '시스템 프롬프트'],
    near: ['输出', '显示', '告诉', '打印', '顯示', '教えて', '表示', '出力', '見せて', '알려', '보여', '출력'],
  },
]

/** Words of one who writes about the matter: they halve nothing that forged turns or hidden characters say. */
export const DISCUSSION = [
  'prompt injection',
  'prompt injections',
  'jailbreak attempt',
  'jailbreak attempts',
  'for example an attacker',
  'an attacker might',
  'attackers may',
  'attackers often',
  'how to detect',
  'how to prevent',
  'phrases like',
  'phrases such as',
  'what does the phrase',
  'the sentence "',
  'red team report',
]

import {chat} from './first-tasks.ts'
import type {Task} from './task.ts'

export const FURTHER_TASKS: readonly Task[] = [
  {
    title: 'a fallback with a retry: checked, explained, tried on cases, saved, called',
    pages: ['docs/configs.md', 'docs/cli.md'],
    steps: [
      {
        type: 'gateway providers create flaky --kind vllm --custom-host http://10.0.0.6:8000/v1',
        shows: ['@flaky/'],
      },
      {
        file: 'plans.json',
        text: `{
  "strategy": {"mode": "fallback"},
  "targets": [
    {"provider": "@flaky", "retry": {"attempts": 1}},
    {"provider": "@local", "override_params": {"model": "llama3"}}
  ]
}
`,
      },
      {
        file: 'request.yaml',
        text: 'method: POST\npath: /v1/chat/completions\nbody: {model: small, messages: [{role: user, content: Hi}]}\n',
      },
      {
        file: 'suite.yaml',
        text: `config: plans.json
cases:
  - name: the own model answers when the first is down
    request: {body: {model: small, messages: [{role: user, content: Hi}]}}
    when: {'config.targets[0]': 503}
    expect: {order: ['@flaky', '@local'], status: 200}
`,
      },
      {type: 'gateway configs lint plans.json', shows: [/\S/]},
      {
        type: 'gateway configs explain --config plans.json --request request.yaml',
        shows: [
          'fallback',
          '@flaky/small',
          '@local/llama3',
          '1 retry on',
          'on any status but 2xx then config.targets[1]',
        ],
      },
      {type: 'gateway configs test suite.yaml', shows: ['ok', 'the own model answers when the first is down']},
      {
        type: 'gateway configs create resilient --config plans.json',
        shows: ['resilient'],
        takes: {CONFIG: /(pc-resili\S*)/},
      },
      {type: 'gateway configs show resilient', shows: ['$CONFIG', 'fallback']},
      {
        type: chat('$KEY', 'small', '-i', '-H "x-gateway-config: $CONFIG"'),
        shows: ['HTTP/1.1 200', 'Hello from the provider', 'x-gateway-last-used-option-index: config.targets[1]'],
      },
    ],
  },
  {
    title: 'a guardrail that hides addresses: tried from a file, saved, on every call of a workspace',
    pages: ['docs/guardrails.md', 'docs/cli.md'],
    steps: [
      {file: 'addresses.yaml', text: 'checks: [{id: default.pii, parameters: {categories: [email], redact: true}}]\n'},
      {
        file: 'request.json',
        text: '{"model": "llama3", "messages": [{"role": "user", "content": "Write to ada@mail.example."}]}\n',
      },
      {
        type: 'gateway guardrails test --file-guardrail addresses.yaml --file request.json',
        shows: ['default.pii', 'Write to <EMAIL_1>.'],
      },
      {
        type: 'gateway guardrails create addresses --file addresses.yaml',
        shows: ['addresses'],
        takes: {GUARDRAIL: /(pg-addres\S*)/},
      },
      {type: 'gateway guardrails test addresses --file request.json', shows: ['default.pii', 'Write to <EMAIL_1>.']},
      {
        type: 'gateway workspaces update default --input-guardrails addresses',
        shows: ['Changed the workspace default', '$GUARDRAIL'],
      },
      {
        type: chat('$KEY', '@local/llama3'),
        shows: ['Hello from the provider'],
        again: true,
        sends: /Hello, I am <EMAIL_1>/,
      },
      {type: 'gateway workspaces update default --no-input-guardrails', shows: ['Changed the workspace default']},
    ],
  },
  {
    title: 'a prompt with variables: saved, looked at, run, and its next version published',
    pages: ['docs/prompts.md', 'docs/cli.md'],
    steps: [
      {
        file: 'greeting.yaml',
        text: `provider: local
model: llama3
messages:
  - role: system
    content: You answer {{customer}} in English.
  - role: user
    content: "{{question}}"
`,
      },
      {
        type: 'gateway prompts create greeting --file greeting.yaml',
        shows: ['greeting'],
        takes: {PROMPT: /(pp-greeti\S*)/},
      },
      {
        type: 'gateway prompts render $PROMPT --var customer=Ann --var question=When?',
        shows: ['You answer Ann in English.', 'When?'],
      },
      {
        type: 'GATEWAY_API_KEY=$KEY gateway prompts run $PROMPT --var customer=Ann --var question=When? --url http://127.0.0.1:8787',
        shows: ['Hello from the provider'],
        sends: /You answer Ann in English\./,
      },
      {type: 'gateway prompts update $PROMPT --model llama3:70b', shows: ['$PROMPT']},
      {type: 'gateway prompts versions $PROMPT', shows: [/^ *2 /m, /^ *1 /m]},
      {type: 'gateway prompts publish $PROMPT 2', shows: [/2/]},
      {type: 'gateway prompts show $PROMPT', shows: ['llama3:70b']},
    ],
  },
  {
    title: 'resources as files: a config that was deleted comes back from them',
    pages: ['docs/gitops.md', 'docs/cli.md'],
    steps: [
      {type: 'gateway export --dir resources', shows: [/resources/]},
      {type: 'gateway apply -f resources --dry-run', shows: [/Nothing|nothing/]},
      {type: 'gateway configs delete $CONFIG --yes', code: 0, shows: [/\S/]},
      {type: 'gateway apply -f resources --dry-run', shows: ['$CONFIG']},
      {type: 'gateway apply -f resources', shows: ['$CONFIG']},
      {type: 'gateway configs show resilient', shows: ['$CONFIG', 'fallback']},
    ],
  },
  {
    title: 'a workspace of a team and its manager, who sees that workspace alone',
    pages: ['docs/access.md', 'docs/cli.md'],
    steps: [
      {type: 'gateway workspaces create research', shows: ['research'], takes: {RESEARCH: /(ws-resear\S*)/}},
      {type: 'gateway users create ada@example.com --role member', shows: ['Created the user ada@example.com']},
      {type: 'gateway members add ada@example.com -w research --role manager', shows: ['ada@example.com']},
      {
        type: 'gateway keys create team --workspace research',
        shows: ['Keep it now'],
        takes: {TEAM: /^(gk-\S+)$/m},
      },
      {
        type: 'gateway integrations create house --kind ollama --custom-host http://10.0.0.5:11434',
        shows: ['house'],
      },
      {type: 'gateway integrations workspaces house --open research', shows: [/research/]},
      {type: 'gateway providers list --workspace research', shows: [/^house /m]},
      {type: chat('$TEAM', '@house/llama3'), shows: ['Hello from the provider'], again: true},
      {
        type: 'gateway sessions create --user ada@example.com --ttl 8h',
        shows: ['calls no models'],
        takes: {SESSION: /^(gs-\S+)$/m},
      },
      {
        type: 'GATEWAY_API_KEY=$SESSION gateway workspaces list --url http://127.0.0.1:8787',
        shows: ['research', /^(?![\s\S]*Shared)/],
      },
      {type: 'gateway usage --by workspace', shows: ['research', /Shared|default/], again: true},
    ],
  },
]

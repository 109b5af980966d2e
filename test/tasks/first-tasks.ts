import type {Task} from './task.ts'

/** A first day with a gateway: from the first answer to the first rotation of a key. */
export const FIRST_TASKS: readonly Task[] = [
  {
    title: 'a first answer, of the provider that needs no account',
    pages: ['README.md', 'docs/cli.md'],
    steps: [
      {
        type: 'gateway serve --demo',
        shows: ['This is the first run', /^ {2}admin key +gk-\S+$/m, 'Try it', /^Listening on http/m],
        takes: {
          KEY: /^ {2}workspace key +(gk-\S+)$/m,
          ADMIN: /^ {2}admin key +(gk-\S+)$/m,
          URL: /^Listening on (\S+)$/m,
          CALL: /^ {2}(curl [\s\S]*?"\}\]\}')$/m,
        },
      },
      {type: '$CALL', shows: ['"role":"assistant"', 'Hello']},
      {
        type: `curl http://127.0.0.1:8787/v1/chat/completions \\
  -H "x-gateway-api-key: $KEY" -H "x-gateway-provider: @demo" \\
  -H "content-type: application/json" -d '{"model":"echo","messages":[{"role":"user","content":"Hello"}]}'`,
        shows: ['"role":"assistant"', 'Hello'],
      },
    ],
  },
  {
    title: 'install into a folder, serve from it, uninstall with the data',
    is_slow: true,
    pages: ['docs/packaging.md'],
    steps: [
      {
        type: './release/install.sh --prefix $HOME/gw --data-dir $HOME/gw-data --no-service',
        shows: [/^.*installed \S+\/gw\/bin\/gateway \(version \d/m],
        takes: {SERVE: /start the gateway with: (.*)$/m},
      },
      {type: '$SERVE', shows: ['"listening"']},
      {
        type: './release/install.sh --prefix $HOME/gw --data-dir $HOME/gw-data --no-service --uninstall --purge',
        shows: [/removed \S+\/gw\/bin\/gateway/, /removed \S+\/gw-data/],
      },
    ],
  },
  {
    title: 'connect a model of the own network',
    pages: ['README.md'],
    steps: [
      {
        type: 'gateway providers create local --kind ollama --custom-host http://10.0.0.5:11434',
        shows: ['@local/'],
      },
      {type: chat('$KEY', '@local/llama3'), shows: ['Hello from the provider']},
    ],
  },
  {
    title: 'a key with 5 dollars a month and 10 calls a minute',
    pages: ['README.md', 'docs/cli.md'],
    steps: [
      {
        type: 'gateway keys create my-app --rate 10rpm --budget 5 --reset monthly',
        shows: ['Keep it now'],
        takes: {APP: /^(gk-\S+)$/m},
      },
      {type: 'gateway keys list', shows: [/my-app.*\$5\.00/]},
      {type: 'gateway keys show my-app', shows: ['monthly', '"unit":"rpm","value":10']},
      {type: chat('$APP', '@local/llama3'), shows: ['Hello from the provider']},
    ],
  },
  {
    title: 'a price for an own model, for which calls were not charged',
    pages: ['README.md', 'docs/cli.md'],
    steps: [
      {
        type: 'gateway pricing unpriced',
        shows: ['llama3', 'ollama'],
        again: true,
      },
      {type: 'gateway pricing set llama3 --provider ollama --input 500000 --output 500000', shows: ['llama3']},
      {type: 'gateway pricing show llama3 --provider ollama', shows: ['$500000 a million']},
      {type: chat('$APP', '@local/llama3'), shows: ['Hello from the provider']},
    ],
  },
  {
    title: 'see in the live view why a call fails',
    pages: ['README.md'],
    steps: [
      {
        type: chat('$APP', '@local/llama3', '-i'),
        again: true,
        shows: ['HTTP/1.1 412', 'The usage limit of the API key my-app is used up', 'US dollars per month are used'],
      },
      {
        type: 'gateway logs tail',
        shows: [/^TIME +ID +STATUS/m, / 412 /, /my-app/, /The usage limit of the API key my-app is used up/],
        takes: {ID: /^\S+ +(\S+) +412 /m},
      },
      {
        type: 'gateway logs show $ID',
        shows: [/^reason +The usage limit of the API key my-app is used up/m, /^key +my-app/m],
      },
    ],
  },
  {
    title: 'raise the budget of the key, after a look at the change',
    pages: ['docs/cli.md'],
    steps: [
      {
        type: 'gateway keys update my-app --budget 50 --dry-run',
        shows: ['Would change the API key my-app', 'budget: $5.00 -> $50.00'],
      },
      {
        type: 'gateway keys update my-app --budget 50',
        shows: ['Changed the API key my-app', 'budget: $5.00 -> $50.00'],
      },
      {type: chat('$APP', '@local/llama3'), shows: ['Hello from the provider'], again: true},
    ],
  },
  {
    title: 'rotate the key: both secrets work, and a second rotation says when it may be',
    pages: ['docs/access.md'],
    steps: [
      {
        type: 'gateway keys rotate my-app',
        shows: ['The old secret works until'],
        takes: {NEW: /^(gk-\S+)$/m, UNTIL: /The old secret works until (.*?) UTC/},
      },
      {type: chat('$APP', '@local/llama3'), shows: ['Hello from the provider']},
      {type: chat('$NEW', '@local/llama3'), shows: ['Hello from the provider'], again: true},
      {
        type: 'gateway keys rotate my-app',
        code: 4,
        shows: ['the old secret works until', 'Rotate it again after that'],
      },
    ],
  },
]

export function chat(key: string, model: string, ...more: readonly string[]): string {
  const options = [...more, `-H "x-gateway-api-key: ${key}"`, '-H "content-type: application/json"'].join(' ')
  const body = `{"model":"${model}","messages":[{"role":"user","content":"Hello, I am ada@mail.example"}]}`
  return `curl http://127.0.0.1:8787/v1/chat/completions ${options} -d '${body}'`
}

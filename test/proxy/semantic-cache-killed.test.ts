import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {createInterface} from 'node:readline'
import {expect, onTestFinished, test} from 'vitest'
import {WORKSPACE_KEY} from '../support/gateway.ts'
import {forRing} from '../support/ring.ts'
import {testStore} from '../support/stores.ts'

const ROUNDS = forRing({own: 1, ci: 4, full: 12})
const ASKED = 'What is the capital of France?'
const PARAPHRASE = 'what is the capital of france?'
const databases = ['sqlite', ...(process.env.TEST_DATABASE_URL ? ['postgres'] : [])]

async function serve(folder: string, env: Record<string, string>): Promise<{child: ChildProcess; url: string}> {
  const argv = ['bin/gateway.ts', 'serve', '--demo', '--port', '0', '--data-dir', folder]
  const child = spawn(process.execPath, argv, {
    cwd: resolve(import.meta.dirname, '../..'),
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {...process.env, ...env, GATEWAY_BOOTSTRAP_WORKSPACE_KEY: WORKSPACE_KEY},
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const url = await new Promise<string>((done, failed) => {
    createInterface({input: child.stderr!}).on('line', line => {
      if (!line.startsWith('{')) return
      const {msg, url} = JSON.parse(line) as {msg: string; url: string}
      if (msg === 'listening') done(url)
    })
    child.once('exit', () => failed(new Error('the gateway ended')))
  })
  return {child, url}
}

async function ask(url: string, namespace: string, content: string) {
  const reply = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': WORKSPACE_KEY,
      'x-gateway-config': JSON.stringify({provider: '@demo', cache: {mode: 'semantic', max_age: 3600}}),
      'x-gateway-cache-namespace': namespace,
    },
    body: JSON.stringify({model: 'echo', messages: [{role: 'user', content}]}),
  })
  const {choices} = (await reply.json()) as {choices?: {message: {content: string}}[]}
  return {
    status: reply.status,
    cache: reply.headers.get('x-gateway-cache-status'),
    text: choices?.[0]?.message.content ?? '',
  }
}

test.each(databases)(
  'SC24: a kill -9 between an answer and its vector leaves no broken entry, on %s',
  async kind => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-killed-'))
    onTestFinished(() => rmSync(folder, {recursive: true, force: true}))
    const env: Record<string, string> = {GATEWAY_SEALING_KEY: Buffer.alloc(32, 3).toString('base64')}
    if (kind === 'postgres') {
      const database = await testStore('postgres')
      onTestFinished(() => database.close())
      const {options} = database
      if (options.kind === 'postgres' && 'connectionString' in options.connection)
        env.DATABASE_URL = options.connection.connectionString!
    }
    for (let round = 0; round < ROUNDS; round++) {
      const namespace = `round-${round}`
      const first = await serve(folder, env)
      const answered = await ask(first.url, namespace, ASKED)
      expect([answered.status, answered.cache]).toEqual([200, 'SEMANTIC MISS'])
      // some rounds end at once, others a little later: before, within and after the writes that follow the answer
      for (let turn = 0; turn < round * 3; turn++) await new Promise(done => setImmediate(done))
      const ended = once(first.child, 'exit')
      first.child.kill('SIGKILL')
      await ended
      const second = await serve(folder, env)
      for (const content of [PARAPHRASE, ASKED, PARAPHRASE]) {
        const again = await ask(second.url, namespace, content)
        expect(again.status).toBe(200)
        expect(again.cache).toMatch(/^(?:HIT|SEMANTIC HIT|SEMANTIC MISS)$/)
        expect(again.text.toLowerCase()).toContain('capital of france')
      }
      const stopped = once(second.child, 'exit')
      second.child.kill('SIGTERM')
      expect(await stopped).toEqual([0, null])
    }
  },
  300_000,
)

import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, onTestFinished, test} from 'vitest'
import {countingProvider} from '../bench/crash/provider.ts'
import {administer, CALL_HEADERS, gatewayCommand, provideAt, type Served, serve} from '../bench/subjects/gateway.ts'
import {forRing, generated} from '../support/ring.ts'

const ENDS = forRing<readonly ('kill' | 'stop')[]>({
  own: [],
  ci: ['kill', 'stop'],
  full: ['kill', 'stop', 'kill', 'kill', 'stop', 'kill', 'kill', 'stop'],
})

test.runIf(ENDS.length > 0)(
  'a strict limit of tokens of a served gateway says after each SIGKILL and SIGTERM what its calls used, and lets through just the rest',
  async () => {
    const data_dir = mkdtempSync(join(tmpdir(), 'gateway-test-'))
    const provider = await countingProvider(() => 0)
    let served: Served | undefined
    onTestFinished(async () => {
      await served?.program.kill()
      await provider.close()
      rmSync(data_dir, {recursive: true, force: true})
    })
    const command = gatewayCommand(false)
    served = await serve(command, data_dir)
    await provideAt(served.origin, 'mock', provider.origin)
    const [workspace] = (await administer(served.origin)<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const limit = (credit_limit: number) => ({type: 'tokens', credit_limit, enforcement: 'strict'})
    const {id, key} = await administer(served.origin)<{id: string; key: string}>(
      'POST',
      '/api-keys/workspace/service',
      {
        name: 'strict',
        workspace_id: workspace!.id,
        scopes: ['completions.write'],
        usage_limits: limit(1_000_000),
      },
    )
    let calls = 0
    const call = async (model: string) => {
      const reply = await fetch(`${served!.origin}/v1/chat/completions`, {
        method: 'POST',
        headers: {...CALL_HEADERS, authorization: `Bearer ${key}`, 'content-type': 'application/json'},
        signal: AbortSignal.timeout(20_000),
        body: JSON.stringify({
          model,
          user: `limits-${++calls}`,
          max_tokens: 20,
          messages: [{role: 'user', content: 'Count this call.'}],
        }),
      })
      const said = (await reply.json()) as {usage?: {total_tokens: number}}
      return {status: reply.status, tokens: said.usage?.total_tokens ?? 0}
    }
    const used = async () =>
      (await administer(served!.origin)<{usage_limits: {current_usage: number}}>('GET', `/api-keys/${id}`)).usage_limits
        .current_usage
    let tokens = 0
    for (const [at, end] of ENDS.entries()) {
      // a model with a price, and one that nobody lists
      for (const model of ['gpt-4o-mini', `nobody-lists-${at}`]) {
        const made = await call(model)
        expect(made.status).toBe(200)
        tokens += made.tokens
      }
      await served.program[end]()
      served = await serve(command, data_dir)
      const first = await call('gpt-4o-mini') // claimed before it is read: the counter is the rebuilt one
      tokens += first.tokens
      expect([first.status, await used(), end]).toEqual([200, tokens, end])
    }
    const change = (credit_limit: number) =>
      administer(served!.origin)('PUT', `/api-keys/${id}`, {usage_limits: limit(credit_limit)})
    await change(tokens)
    expect((await call('gpt-4o-mini')).status).toBe(412)
    await change(tokens + 1_000)
    expect((await call('gpt-4o-mini')).status).toBe(200)
    generated('limits, real kills', ENDS.length)
  },
  120_000,
)

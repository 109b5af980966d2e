import {randomBytes} from 'node:crypto'
import {newId} from '../../src/base/ids.ts'
import {openStore} from '../../src/store/dialect/index.ts'
import {startGateway} from '../support/gateway.ts'
import {fakeProvider, json} from '../support/provider.ts'

/**
 * Milliseconds that a list of models may take: warm, the first after a change, and beside an engine that does not
 * answer.
 */
const MAX_MS = {warm: 20, changed: 100, silent: 1100}
const KEYS = 10_000
const PROVIDERS = 200
const ENGINES = 10
const MODELS_EACH = 15
const ROUNDS = 40

const engine = await fakeProvider(({path}, response) => {
  if (path.startsWith('/silent')) return
  json(response, {
    object: 'list',
    data: Array.from({length: MODELS_EACH}, (_, at) => ({id: `engine-model-${at}`, object: 'model', created: 1})),
  })
})
const gateway = await startGateway()
try {
  const {admin} = gateway
  const {id: workspace_id, slug} = (await admin<{data: {id: string; slug: string}[]}>('GET', '/admin/workspaces'))
    .data[0]!
  for (let at = 0; at < PROVIDERS; at++) {
    const is_engine = at < ENGINES
    await gateway.provider(
      `provider-${at}`,
      is_engine ? 'vllm' : 'openai',
      is_engine ? engine.url : '',
      is_engine ? {} : {configurations: {}},
    )
    const models = Array.from({length: MODELS_EACH}, (_, model) => ({
      slug: `model-${at}-${model}`,
      enabled: true,
      is_custom: true,
    }))
    if (!is_engine) await admin('PUT', `/integrations/provider-${at}/models`, {models, allow_all_models: false})
  }
  await insertKeys(workspace_id)
  const body = {
    name: 'held',
    scopes: ['completions.write'],
    workspace_id: slug,
    models: {allow: ['model-*', 'engine-*'], deny: ['*-preview']},
  }
  const {key} = await admin<{key: string}>('POST', '/api-keys/workspace/service', body)
  const list = async () => {
    const began = performance.now()
    const reply = await gateway.call('/v1/models', {headers: {'x-gateway-api-key': key}})
    const {data} = (await reply.json()) as {data: unknown[]}
    return {ms: performance.now() - began, models: data.length}
  }
  const {models} = await list()
  if (models !== PROVIDERS * MODELS_EACH) throw new Error(`${models} models are listed`)
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) times.push((await list()).ms)
  const changed: number[] = []
  for (let round = 0; round < 5; round++) {
    await admin('PUT', '/providers/provider-50', {note: `round ${round}`})
    changed.push((await list()).ms)
  }
  await gateway.provider('silent', 'vllm', engine.url.replace('/v1', '/silent'))
  const {ms: silent} = await list()
  const what = `list of ${models} models of ${PROVIDERS} providers, ${KEYS} keys`
  // other load only ever adds time
  say(`${what}, the best of ${ROUNDS}`, Math.min(...times), MAX_MS.warm)
  say(`${what}, the first after a change`, Math.min(...changed), MAX_MS.changed)
  say(`${what}, beside a silent engine`, silent, MAX_MS.silent)
} finally {
  await gateway.close()
  await engine.close()
}

/** As rows: making one by the administration each would be most of the time. */
async function insertKeys(workspace_id: string) {
  const store = await openStore({kind: 'sqlite', folder: gateway.folder, role: 'operator'})
  const like = await store.db
    .selectFrom('api_keys')
    .selectAll()
    .where('workspace_id', '=', workspace_id)
    .executeTakeFirstOrThrow()
  for (let from = 0; from < KEYS; from += 500) {
    const rows = Array.from({length: 500}, (_, at) => ({
      ...like,
      id: newId(),
      name: `key ${from + at}`,
      key_hash: randomBytes(32).toString('hex'),
    }))
    await store.db.insertInto('api_keys').values(rows).execute()
  }
  await store.close()
}

function say(what: string, ms: number, most_ms: number) {
  console.log(`${what}: ${ms.toFixed(2)} ms (at most ${most_ms} ms)${ms > most_ms ? ': TOO SLOW' : ''}`)
  if (ms > most_ms) process.exitCode = 1
}

import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {newId} from '../../../src/base/ids.ts'
import {insertKey} from '../../../src/store/api-keys.ts'
import {openStore} from '../../../src/store/dialect/index.ts'
import {insertWorkspace} from '../../../src/store/workspaces.ts'
import {cpuUs} from '../processes.ts'
import {administer, gatewayCommand, serve} from '../subjects/gateway.ts'
import {judge, type Took} from './took.ts'

const KEYS = 10_000
const WORKSPACES = 1_000
const TIMES = 40
/** Asked before, so that the code is as it is after a while. */
const WARM = 10
const MAX_MS = 50

/**
 * How long lists take where there are many keys and workspaces, asked of a gateway as a client asks; the processor's
 * share is the gateway's.
 */
export async function listMany(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-many-'))
  try {
    await (await serve(gatewayCommand(false), folder)).program.stop()
    const workspace_id = await fill(folder)
    const {origin, program} = await serve(gatewayCommand(false), folder)
    const admin = administer(origin)
    const ask = async (what: string, path: string) => {
      for (let time = 0; time < WARM; time++) await admin('GET', path)
      const took: Took[] = []
      for (let time = 0; time < TIMES; time++) {
        const [began, cpu_us] = [performance.now(), cpuUs(program.pid)]
        await admin('GET', path)
        took.push({ms: performance.now() - began, cpu_ms: (cpuUs(program.pid) - cpu_us) / 1000})
      }
      judge(what, took, MAX_MS)
    }
    await ask(`keys, the first 100 of ${KEYS}`, '/api-keys?page_size=100')
    await ask('keys, the last 100 of them', `/api-keys?page_size=100&current_page=${KEYS / 100 - 1}`)
    await ask('keys of one workspace', `/api-keys?workspace_id=${workspace_id}`)
    await ask(`workspaces, the first 100 of ${WORKSPACES}`, '/admin/workspaces?page_size=100')
    await ask(
      'workspaces, the last 100 of them',
      `/admin/workspaces?page_size=100&current_page=${WORKSPACES / 100 - 1}`,
    )
    await program.stop()
  } finally {
    rmSync(folder, {recursive: true})
  }
}

/** Gives one of the workspaces. */
async function fill(folder: string): Promise<string> {
  const store = await openStore({kind: 'sqlite', folder, role: 'server'})
  const first = await store.db.selectFrom('workspaces').selectAll().executeTakeFirstOrThrow()
  const key = await store.db
    .selectFrom('api_keys')
    .selectAll()
    .where('workspace_id', 'is not', null)
    .executeTakeFirstOrThrow()
  const ids = Array.from({length: WORKSPACES - 1}, () => newId())
  const at = (n: number) => new Date(Date.parse(first.created_at) + n).toISOString()
  await store.write(async db => {
    for (const [n, id] of ids.entries())
      await insertWorkspace(db, {...first, id, slug: `team-${n}`, name: `Team ${n}`, is_default: 0, created_at: at(n)})
    for (let n = 1; n < KEYS; n++) {
      const workspace_id = ids[n % ids.length]!
      await insertKey(db, {
        ...key,
        id: newId(),
        workspace_id,
        name: `key ${n}`,
        key_hash: String(n).padStart(64, '0'),
        created_at: at(n),
      })
    }
  })
  await store.close()
  return ids[0]!
}

if (import.meta.main) await listMany()

import {mkdirSync, mkdtempSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {createApp} from '../../../src/app/app.ts'
import {createLog} from '../../../src/base/log.ts'
import {readSettings} from '../../../src/settings/index.ts'
import type {Db} from '../../../src/store/database.ts'
import {openStore} from '../../../src/store/dialect/index.ts'
import {run} from '../support.ts'
import {FILES} from './files.ts'
import {fill, fixIds} from './fill.ts'
import {ADMIN_KEY, type Inject, WORKSPACE_KEY} from './names.ts'

/** A folder with a data directory in which all names of examples exist, and the files that they name. */
export async function prepare(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-examples-'))
  const data = join(folder, 'data')
  const env = {
    GATEWAY_DATA_DIR: data,
    GATEWAY_BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
    GATEWAY_BOOTSTRAP_WORKSPACE_KEY: WORKSPACE_KEY,
  }
  await run(['init'], {env})
  await rename(data, db => db.updateTable('workspaces').set({slug: 'research', name: 'research'}).execute())
  const {settings} = readSettings({env: {...env, SCIM_ENABLED: 'ON'}})
  const app = await createApp(settings, {
    role: 'operator',
    log: createLog('error', 'gateway', line => void console.error(line)),
  })
  const inject: Inject = async (method, path, body) => {
    const reply = await app.inject({method, url: `/v1${path}`, body})
    if (reply.status !== 200)
      throw new Error(`${method} ${path} answers ${reply.status}: ${JSON.stringify(reply.body)}`)
    return reply.body as Record<string, unknown>
  }
  await fill(inject)
  await app.close()
  await rename(data, fixIds)
  writeFiles(folder)
  const command = (line: string) => run([...line.split(' '), '--data-dir', data], {folder})
  await command('bundle keygen --out prices')
  await command('bundle create --prices ./prices --key prices.key --out prices.bundle')
  await command('export --dir resources --kind guardrails')
  return folder
}

async function rename(folder: string, work: (db: Db) => Promise<unknown>) {
  const store = await openStore({kind: 'sqlite', folder, role: 'operator'})
  await work(store.db)
  await store.close()
}

function writeFiles(folder: string) {
  for (const name of ['prices', 'capabilities']) mkdirSync(join(folder, name))
  for (const [path, text] of Object.entries(FILES)) writeFileSync(join(folder, path), text)
  const db = new Sqlite(join(folder, 'one-api.db'))
  db.exec(`
    create table channels (id integer, type integer, key text, status integer, name text, weight integer, base_url text, other text,
      models text, "group" text, model_mapping text, priority integer, config text);
    create table tokens (id integer, user_id integer, key text, status integer, name text, expired_time integer, remain_quota integer,
      unlimited_quota integer, models text, subnet text);
    create table users (id integer, username text);
    insert into channels values (1, 1, 'sk-one-0123456789', 1, 'Main', 2, '', '', 'gpt-4o', 'default', '', 10, '');
  `)
  db.close()
}

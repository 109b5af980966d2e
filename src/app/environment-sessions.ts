import {createHash} from 'node:crypto'
import type {Log} from '../base/log.ts'
import type {SsoConnection} from '../identity/connections.ts'
import type {Store} from '../store/database.ts'
import {readMeta, writeMeta} from '../store/meta.ts'
import {hasSessionsBy, revokeSessionsBy} from '../store/sessions.ts'

const SPEAKER = 'environment_connection'
const CONNECTION = 'environment'
const GONE = 'none'

/**
 * Ends the sessions that the connection of the settings opened, where it speaks for other people since the start
 * before, or is gone. What changes in the database has this done by the change itself; settings change while nothing
 * runs.
 */
export async function endSessionsOfBefore(
  connection: SsoConnection | null,
  {store, log, now}: {readonly store: Store; readonly log: Pick<Log, 'warn'>; readonly now: string},
): Promise<void> {
  const speaker = connection === null ? GONE : speakerOf(connection)
  const before = await readMeta(store.db, SPEAKER)
  const is_same = speaker === (before ?? (connection === null ? GONE : speaker))
  // another process of the settings of before may have opened some since
  const has_orphans = connection === null && (await hasSessionsBy(store.db, CONNECTION))
  if (is_same && !has_orphans && (before !== undefined || connection === null)) return
  const ended = await store.write(async db => {
    await writeMeta(db, SPEAKER, speaker)
    return is_same && !has_orphans ? 0 : revokeSessionsBy(db, null, CONNECTION, now)
  })
  if (ended > 0) log.warn({ended}, 'the connection of the settings is another or gone: its sessions were ended')
}

/** The facts that decide for which people the connection speaks. */
function speakerOf({organisation_id, type, settings}: SsoConnection): string {
  const {issuer, url, entity_id, metadata_url, metadata_xml} = settings as Readonly<Record<string, unknown>>
  // a document is renewed with its certificates, and stays of one provider
  const named = typeof metadata_xml === 'string' ? (/\bentityID\s*=\s*["']([^"']*)/.exec(metadata_xml)?.[1] ?? '') : ''
  const facts = [organisation_id, type, issuer, url, entity_id, metadata_url, named]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex')
}

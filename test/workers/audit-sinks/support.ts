import {onTestFinished} from 'vitest'
import {after} from '../../../src/base/delay.ts'
import {rawConnector} from '../../../src/base/egress/raw.ts'
import {createLog} from '../../../src/base/log.ts'
import type {AuditSink} from '../../../src/settings/index.ts'
import {readSettings} from '../../../src/settings/index.ts'
import {insertAuditLog} from '../../../src/store/audit-logs.ts'
import type {Store} from '../../../src/store/database.ts'
import type {AuditLogsTable} from '../../../src/store/tables/identity.ts'
import {auditSinkWork, fileTarget, syslogTarget} from '../../../src/workers/audit-sinks/index.ts'
import type {SinkTarget} from '../../../src/workers/audit-sinks/target.ts'
import {type StoreKind, testStore} from '../../support/stores.ts'
import {CERTIFICATE} from '../../support/tls.ts'

export const AT = '2026-03-04T05:06:07.008Z'

/** A row of the audit log, written as the administration writes it. */
export async function recorded(store: Store, id: string, more: Partial<AuditLogsTable> = {}) {
  const row: AuditLogsTable = {
    ...{id, at: AT, organisation_id: 'red', workspace_id: 'w-1', actor_type: 'user', actor_id: 'u-1'},
    ...{method: 'POST', uri: '/v1/configs', request_id: `r-${id}`, request_headers: '{}', query_params: null},
    ...{request_body: '{"name":"mine"}', status: 200, resource_type: 'config', resource_id: 'c-1'},
    ...{action: 'create', client_ip: '192.0.2.7'},
    ...more,
  }
  await store.write(db => insertAuditLog(db, row))
}

export async function storeFor(kind: StoreKind) {
  const database = await testStore(kind)
  onTestFinished(() => database.close())
  return database
}

/** The sink that a text of AUDIT_SINKS names. */
export function sinkOf(text: string): AuditSink {
  return readSettings({env: {AUDIT_SINKS: text}}).settings.audit_sinks[0]!
}

export function targetFor(sink: AuditSink, wait = after): SinkTarget {
  if (sink.kind === 'file') return fileTarget(sink.path, wait)
  const {hostname, port, secure} = sink
  return syslogTarget(rawConnector({hostname, port, secure, ...(secure && {tls: {ca: CERTIFICATE}})}), wait)
}

/** A sender for a sink, with the lines of its log. */
export function senderFor(store: Store, text: string, {wait = after, now = () => Date.parse(AT)} = {}) {
  const sink = sinkOf(text)
  const lines: {msg: string; reason?: string}[] = []
  const log = createLog('info', 'gateway', line => void lines.push(JSON.parse(line)))
  const source = {host: 'host.example', app: 'gate way'}
  const work = auditSinkWork({sink, target: targetFor(sink, wait), store, source, log, now})
  const stopped = new AbortController()
  return {
    ...work,
    sink,
    lines,
    stop: () => stopped.abort(),
    turn: () => work.job.run({now_ms: now(), lost: stopped.signal}),
  }
}

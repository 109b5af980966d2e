import {hostname} from 'node:os'
import type {Registry} from 'prom-client'
import {after} from '../base/delay.ts'
import {rawConnector} from '../base/egress/raw.ts'
import type {Log} from '../base/log.ts'
import type {AuditSink, Settings} from '../settings/index.ts'
import {rowsBehindSink} from '../store/audit-marks.ts'
import type {Store} from '../store/database.ts'
import {
  auditSinkMetrics,
  auditSinkWork,
  fileTarget,
  type SinkTarget,
  syslogTarget,
} from '../workers/audit-sinks/index.ts'
import type {Job} from '../workers/schedule.ts'
import {readClientTls} from './client-tls.ts'

/** The jobs that send the audit log to places outside. */
export interface AuditSinkWork {
  readonly jobs: readonly Job[]
  measure(registry: Registry): void
}

export interface AuditSinkWorkParts {
  readonly settings: Settings
  readonly store: Store
  readonly log: Log
  readonly now: () => number
}

/** Refuses (SettingsFault) certificates that cannot be read. A place that cannot be reached is no reason. */
export function openAuditSinks({settings, store, log, now}: AuditSinkWorkParts): AuditSinkWork {
  const source = {host: hostname(), app: settings.service_name}
  const works = settings.audit_sinks.map(sink => auditSinkWork({sink, target: targetOf(sink), store, source, log, now}))
  return {
    jobs: works.map(({job}) => job),
    measure: registry =>
      auditSinkMetrics(
        registry,
        works.map(({counts}) => counts),
        sink => rowsBehindSink(store.db, sink),
      ),
  }
}

function targetOf(sink: AuditSink): SinkTarget {
  if (sink.kind === 'file') return fileTarget(sink.path, after)
  const {hostname, port, secure} = sink
  const file = (name: 'ca' | 'cert' | 'key') => {
    const path = sink[name]
    return path === undefined ? undefined : {path, as: `${name} of AUDIT_SINKS`}
  }
  const tls = readClientTls({ca: file('ca'), cert: file('cert'), key: file('key'), of: 'AUDIT_SINKS'})
  return syslogTarget(rawConnector({hostname, port, secure, tls}), after)
}

import {hostname} from 'node:os'
import {Registry} from 'prom-client'
import {type After, after as inReal} from '../base/delay.ts'
import type {Log} from '../base/log.ts'
import {txtLooks} from '../ports/dns/txt.ts'
import type {Mailer} from '../ports/mail/index.ts'
import {smtpMailer} from '../ports/mail/smtp.ts'
import type {AskAgain} from '../schema/deferred.ts'
import {mailSettings, type Settings} from '../settings/index.ts'
import type {Store} from '../store/database.ts'
import {usageSince} from '../store/usage.ts'
import {alertRecipients} from '../workers/alert-mail.ts'
import {alertsJob} from '../workers/alerts.ts'
import {budgetsJob, entityBudgets} from '../workers/budgets.ts'
import {type CertificateJobServices, certificatesJob} from '../workers/certificates.ts'
import {deferredJob} from '../workers/deferred.ts'
import {domainLooks, domainMetrics} from '../workers/domain-looks.ts'
import {mcpSessionJob} from '../workers/drop-mcp-sessions.ts'
import {oauthJob} from '../workers/drop-oauth.ts'
import {signInsJob} from '../workers/drop-sign-ins.ts'
import {keyExpiryJob} from '../workers/key-expiry.ts'
import {mailJob} from '../workers/mail.ts'
import {type McpTurns, mcpSyncJob} from '../workers/mcp-sync.ts'
import {workerMetrics} from '../workers/metrics.ts'
import {flushJob, priceJob, reconcileJob, retentionJob} from '../workers/periodic-jobs.ts'
import {policyBudgets} from '../workers/policy-budgets.ts'
import type {Records} from '../workers/records.ts'
import {exportsJob} from '../workers/retain-exports.ts'
import {type Schedule, startSchedule} from '../workers/schedule.ts'
import type {AuditSinkWork} from './audit-sinks.ts'
import type {LogPush} from './log-push.ts'
import type {LogStoreWork} from './log-store-work.ts'
import {openLetters} from './mail-texts.ts'
import type {TelemetryWork} from './telemetry.ts'

export interface BackgroundParts {
  readonly settings: Settings
  readonly store: Store
  readonly records: Pick<Records, 'flushed' | 'retain'>
  /** The work for a log store that is not this machine. */
  readonly log_store?: LogStoreWork | undefined
  /** Sends the audit log to places outside. */
  readonly audit_sinks?: AuditSinkWork | undefined
  /** The exports of telemetry, for /metrics. */
  readonly telemetry?: Pick<TelemetryWork, 'measure'> | undefined
  /** The log at Loki, for /metrics. */
  readonly log_push?: Pick<LogPush, 'measure'> | undefined
  /** Keeps counters equal to the ledger; without it there is no such job. */
  readonly reconciler?: {run(lost: AbortSignal): Promise<void>} | null
  readonly log: Log
  readonly now: () => number
  /** The folder in which this process keeps files of exports. */
  readonly exports_folder?: string
  /** The certificates that people need to sign in; without it none are watched. */
  readonly certificates?: CertificateJobServices['watched']
  /** Polls for work that calls began and no client polled again. */
  readonly ask_again?: AskAgain | undefined
  /** Reads MCP servers; without it there is no such job. */
  readonly mcp?: McpTurns
  /** Brings prices up to date; without any there is no such job. */
  readonly refreshPrices?: readonly (() => Promise<void>)[]
  /** @default over the mail server of the settings */
  readonly mailer?: Mailer
  readonly after?: After
}

/** The work beside calls. */
export interface Background {
  readonly schedule: Schedule
  /** Its part of the text of /metrics. */
  metrics(): Promise<string>
  close(): Promise<void>
}

/** Puts the jobs in the background together and starts them. Throws TemplateFault for templates that cannot be used. */
export function openBackground({
  settings,
  store,
  records,
  log_store,
  audit_sinks,
  telemetry,
  log_push,
  reconciler,
  log,
  now,
  exports_folder,
  certificates,
  ask_again,
  mcp,
  refreshPrices = [],
  mailer = mailerOf(settings),
  after = inReal,
}: BackgroundParts): Background {
  const write = mailer && openLetters(settings)
  const notices = {recipientsOf: alertRecipients, write, audits: settings.audit_logs_enabled}
  const enabled = settings.usage_limits_enabled
  const usage = usageIn(store)
  const budgets = [
    ...(enabled ? [entityBudgets(store.db, usage)] : []),
    ...(settings.policy_enabled ? [policyBudgets(store.db)] : []),
  ]
  const sources = budgets.map(read => async (now_ms: number) => {
    await records.flushed()
    return read(now_ms)
  })
  const registry = new Registry()
  const look = txtLooks({servers: settings.domain_dns_servers, after})
  const looks = domainLooks({store, look, log, now})
  const jobs = [
    keyExpiryJob({store, log, ...notices}),
    signInsJob({store}),
    oauthJob({store, log, audits: settings.audit_logs_enabled}),
    mcpSessionJob(store),
    ...(certificates ? [certificatesJob({watched: certificates, log, registry})] : []),
    looks.job,
    budgetsJob({store, usage, enabled, settled: () => records.flushed()}),
    alertsJob({store, sources, log, ...notices}),
    ...(mailer ? [mailJob({store, mailer, log, now})] : []),
    retentionJob(records),
    ...(refreshPrices.length > 0 ? [priceJob(refreshPrices)] : []),
    ...(log_store?.jobs ?? []),
    ...(audit_sinks?.jobs ?? []),
    ...(ask_again ? [deferredJob({store, ask: ask_again, log})] : []),
    ...(mcp ? [mcpSyncJob(mcp)] : []),
    flushJob({records, store, after}),
    ...(reconciler ? [reconcileJob(reconciler)] : []),
    ...(exports_folder === undefined ? [] : [exportsJob({...settings, store, folder: exports_folder})]),
  ]
  const holder = `${hostname()}:${process.pid}`
  const schedule = startSchedule({jobs, store, holder, log, now, after})
  workerMetrics(registry, schedule)
  domainMetrics(registry, looks)
  log_store?.measure(registry)
  audit_sinks?.measure(registry)
  telemetry?.measure(registry)
  log_push?.measure(registry)
  return {
    schedule,
    metrics: () => registry.metrics(),
    async close() {
      await schedule.close()
      await log_store?.close()
    },
  }
}

const usageIn = (store: Store): Parameters<typeof entityBudgets>[1] => {
  return (scope, since_at) => usageSince(store.db, scope, since_at)
}

function mailerOf(settings: Settings): Mailer | undefined {
  const server = mailSettings(settings)
  return server && smtpMailer(server)
}

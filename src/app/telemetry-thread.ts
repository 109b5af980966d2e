import {parentPort, workerData} from 'node:worker_threads'
import {after} from '../base/delay.ts'
import {Egress} from '../base/egress/pools.ts'
import {readProxies} from '../base/egress/proxy.ts'
import {readTrusted} from '../base/egress/trust.ts'
import {restAfterLoad} from '../base/idle-memory.ts'
import {redacted} from '../base/log.ts'
import {sqliteBinding} from '../base/runtime.ts'
import {yieldToAnswers} from '../base/thread-priority.ts'
import {manyBodiesFinder} from '../store/bodies/index.ts'
import {openStore, type StoreOptions} from '../store/dialect/index.ts'
import {openExportMarks, saveExportMark} from '../store/export-marks.ts'
import {sender} from '../telemetry/export/http.ts'
import {journalReader} from '../telemetry/export/journal-reader.ts'
import {partialSuccess} from '../telemetry/export/partial-success.ts'
import type {TelemetryNews, TelemetryOrder, TelemetrySetup} from '../telemetry/messages.ts'
import {Telemetry, type TelemetryReport} from '../telemetry/run.ts'

/** The thread that sends telemetry: what that costs is not felt by calls, and no call waits for a collector. */

const STATUS_EVERY_MS = 2_000

yieldToAnswers()
const port = parentPort!
const setup = workerData as TelemetrySetup
const {store_options: given, owner, writer, folder} = setup
const store_options: StoreOptions =
  given.kind === 'sqlite' ? {...given, role: 'operator', binding: sqliteBinding()} : {...given, pool_size: 2}
const tell = (news: TelemetryNews) => port.postMessage(news)
/** A reason in the log holds no secret. */
const report = ({level, text, facts}: TelemetryReport) =>
  tell({
    news: 'report',
    report: {
      level,
      text,
      facts: Object.fromEntries(
        Object.entries(facts).map(([name, value]) => [name, typeof value === 'string' ? redacted(value) : value]),
      ),
    },
  })
const opened = open()
port.on('message', (order: TelemetryOrder) => void obey(order))
restAfterLoad()

async function open() {
  const store = await openStore(store_options, 'lists')
  const of_journal = {writer, epoch: owner.epoch}
  const names = setup.marks.map(([name]) => name)
  // a thread that was started again continues where the one before was
  const marks = await openExportMarks(store, of_journal, names, setup.marks[0]![1])
  const egresses: Egress[] = []
  const telemetry = new Telemetry({
    exports: setup.telemetry.exports,
    generation: setup.generation,
    delay_ms: setup.delay_ms,
    most_items: setup.most_items,
    metric_interval_ms: setup.metric_interval_ms,
    instance: writer,
    spool_bytes: setup.spool_bytes,
    reader: journalReader(folder, owner, reason =>
      report({level: 'warn', text: 'telemetry has not read all of the journal that is gone', facts: {reason}}),
    ),
    marks,
    saveMark: (name, mark) => saveExportMark(store, of_journal, name, mark),
    findBodies: manyBodiesFinder(store_options, store.db),
    senderOf({name, target}) {
      const egress = egressFor(name)
      egresses.push(egress)
      const content_type = target.protocol === 'http/json' ? 'application/json' : 'application/x-protobuf'
      return sender(egress, {...target, content_type, rejectedOf: partialSuccess}, Date.now)
    },
    report,
    onPassed: mark => tell({news: 'passed', mark}),
    now: Date.now,
    after,
    random: Math.random,
  })
  setInterval(() => tell({news: 'status', exports: telemetry.status()}), STATUS_EVERY_MS).unref()
  return {
    telemetry,
    async close() {
      await telemetry.close()
      tell({news: 'status', exports: telemetry.status()})
      await Promise.all(egresses.map(egress => egress.destroy()))
      await store.close()
    },
  }
}

function egressFor(name: string): Egress {
  const {trusted_custom_hosts, http_proxy, https_proxy, no_proxy, upstream_connect_timeout_ms} = setup.egress
  return new Egress({
    trusted: readTrusted(trusted_custom_hosts),
    proxies: readProxies({HTTP_PROXY: http_proxy, HTTPS_PROXY: https_proxy, NO_PROXY: no_proxy}),
    connect_timeout_ms: upstream_connect_timeout_ms,
    tls: setup.tls[name] ?? {},
    connections: 1,
  })
}

async function obey(order: TelemetryOrder): Promise<void> {
  const {telemetry, close} = await opened
  if (order.order === 'committed') return telemetry.committed(order.mark)
  if (order.order === 'pass_over') return telemetry.passOver()
  await close()
  port.close()
}

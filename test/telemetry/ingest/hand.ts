import type {LogBodies, Settlement} from '../../../src/schema/records.ts'
import type {IngestPorts, SpanSender} from '../../../src/telemetry/ingest/ports.ts'
import {SpanIntakes} from '../../../src/telemetry/ingest/spans.ts'

export const SENDER: SpanSender = {
  principal: {kind: 'api_key', id: 'key'},
  organisation_id: 'o',
  workspace_id: 'w',
  user_id: null,
  metadata: {},
  keeps_bodies: true,
}

type Done = (fault?: Error) => void

/** A row that an intake has noted, and the way to say that it is written. */
export interface NotedRow {
  readonly row: Settlement
  readonly bodies: LogBodies | null
  readonly done: Done
}

/** An intake over ports that a test answers by hand. */
export function intakeOf(given: Partial<IngestPorts> = {}) {
  const noted: NotedRow[] = []
  const ports: IngestPorts = {
    note: (row, bodies, done) => void noted.push({row, bodies, done}),
    settled: async () => undefined,
    rowsOfTraces: async () => [],
    cost: () => ({cost_nanousd: 0, unpriced: true, unpriced_units: [], mode_unpriced: null}),
    pause: () => new Promise(resolve => setImmediate(resolve)),
    now: Date.now,
    log_retention_days: 30,
    most_body_bytes: 1 << 20,
    masked: new Set(),
    ...given,
  }
  return {noted, intakes: new SpanIntakes(ports)}
}

import {index, type Migration} from './support.ts'

/** A span of an application is in the log of its workspace once. */
export const receivedSpans: Migration = {
  name: '0045_received_spans',
  area: 'traffic',
  async up(db, kind) {
    await index(db, kind, 'traffic.logs', ['workspace_id', 'trace_id', 'span_id'], {
      unique: true,
      where: "endpoint = 'ingestTelemetry'",
    })
  },
}

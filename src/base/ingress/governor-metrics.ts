import {STATES} from './governed.ts'
import {ENDED, type Governor} from './governor.ts'

/** The figures of a governor in the Prometheus text format. */
export function governorMetrics(governor: Governor): string {
  return [
    '# HELP gateway_connections Connections of clients, by what they are at.',
    '# TYPE gateway_connections gauge',
    ...STATES.map(state => `gateway_connections{state="${state}"} ${governor.count(state)}`),
    '# HELP gateway_connections_limit Most connections of clients at once (MAX_CONNECTIONS).',
    '# TYPE gateway_connections_limit gauge',
    `gateway_connections_limit ${governor.options.connections}`,
    '# HELP gateway_connections_ended_total Connections that the gateway refused or ended, by why.',
    '# TYPE gateway_connections_ended_total counter',
    ...ENDED.map(why => `gateway_connections_ended_total{why="${why}"} ${governor.ended(why)}`),
    '',
  ].join('\n')
}

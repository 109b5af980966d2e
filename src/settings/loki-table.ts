import {maskedUrl} from '../base/masked-url.ts'
import {kind, switched, url} from './kinds.ts'
import type {Setting} from './setting.ts'

/** The log of the process, pushed to Loki (docs/telemetry.md). */
export const LOKI = {
  ENABLE_LOKI: {
    kind: switched,
    fallback: 'false',
    group: 'Telemetry',
    meaning: 'Pushes the lines of the process log to LOKI_HOST.',
  },
  LOKI_PUSH_ENABLED: {
    kind: switched,
    fallback: 'false',
    group: 'Telemetry',
    meaning: 'The same as ENABLE_LOKI; either is enough.',
  },
  LOKI_HOST: {
    kind: {...url('a URL such as http://loki.example.com:3100', ['http:', 'https:']), show: maskedUrl},
    group: 'Telemetry',
    meaning: 'Address of Loki; /loki/api/v1/push is added. It may be private.',
  },
  LOKI_AUTH: {
    kind: kind('user:password, in visible ASCII', text =>
      /^[\x21-\x39\x3b-\x7e]{1,255}:[\x21-\x7e]{1,1024}$/.test(text) ? text : undefined,
    ),
    group: 'Telemetry',
    secret: true,
    meaning: 'User and password for Loki.',
  },
  LOKI_TENANT: {
    kind: kind("letters, digits and any of !-_.*'(), at most 150", text =>
      /^[\w!.*'()-]{1,150}$/.test(text) ? text : undefined,
    ),
    group: 'Telemetry',
    meaning: 'Tenant at Loki, sent as x-scope-orgid.',
  },
} as const satisfies Record<string, Setting>

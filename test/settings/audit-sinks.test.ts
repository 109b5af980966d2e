import {describe, expect, test} from 'vitest'
import {readSettings, SettingsFault} from '../../src/settings/index.ts'

const read = (text: string, env: Record<string, string> = {}) =>
  readSettings({env: {AUDIT_SINKS: text, ...env}}).settings.audit_sinks

function faultOf(text: string, env: Record<string, string> = {}): string {
  try {
    read(text, env)
  } catch (fault) {
    if (fault instanceof SettingsFault) return fault.message
  }
  return 'no fault'
}

describe('AUDIT_SINKS', () => {
  test('TL30 names places with their formats', () => {
    expect(
      read(
        [
          'syslog+tls://SIEM.example.com?ca=/etc/ca.pem&cert=/c&key=/k',
          'syslog+tcp://[::1]:514?format=cef',
          'file:///var/log/a.log',
        ].join(', '),
      ),
    ).toMatchObject([
      {
        ...{kind: 'syslog', name: 'syslog+tls://siem.example.com:6514', secure: true, hostname: 'siem.example.com'},
        ...{port: 6514, format: 'rfc5424', ca: '/etc/ca.pem', cert: '/c', key: '/k'},
      },
      {kind: 'syslog', name: 'syslog+tcp://[::1]:514', secure: false, hostname: '::1', port: 514, format: 'cef'},
      {kind: 'file', name: 'file:/var/log/a.log', path: '/var/log/a.log', format: 'json'},
    ])
    expect(read('')).toEqual([])
  })

  test.each([
    ['syslog://host:514', 'it takes syslog+tls'],
    ['syslog+udp://host:514', 'it takes syslog+tls'],
    ['file:audit.log', 'it takes syslog+tls'],
    ['file:', 'it takes syslog+tls'],
    ['syslog+tls://', 'it takes syslog+tls'],
    ['syslog+tls://user:pw@host:6514', 'is not allowed'],
    ['syslog+tls://host:6514/path', 'it takes syslog+tls'],
    ['syslog+tls://0x7f.1:6514', 'IPv4 address'],
    ['syslog+tls://host:0', 'a port is'],
    ['syslog+tls://host:6514?format=xml', 'format is rfc5424, cef or json'],
    ['syslog+tls://host:6514?verify=no', 'and not "verify"'],
    ['syslog+tls://host:6514?cert=/c', 'cert and key need each other'],
    ['syslog+tcp://host?ca=/c', 'of syslog+tls alone'],
    ['file:/a?ca=/c', 'of syslog+tls alone'],
    ['file:/a?format=cef,file:/a', 'twice'],
    ['syslog+tls://h,syslog+tls://h:6514?format=cef', 'twice'],
  ])('%s is refused', (text, sentence) => {
    const fault = faultOf(text)
    expect(fault).toContain(sentence)
    expect(fault).not.toContain('pw@')
  })

  test('it is refused where nothing is recorded', () => {
    expect(faultOf('file:/a', {AUDIT_LOGS_ENABLED: 'OFF'})).toContain(
      'would have no effect with AUDIT_LOGS_ENABLED=OFF',
    )
  })
})

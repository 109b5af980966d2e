import {inspect} from 'node:util'
import {expect} from 'vitest'
import {readSettings, type SettingSources, SettingsFault} from '../../src/settings/index.ts'

export const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----'
export const PRIVATE_KEY = '-----BEGIN PRIVATE KEY-----\nhush-private\n-----END PRIVATE KEY-----'
export const SEALING_KEY = 'ab'.repeat(32)
export const POSTGRES = {
  DATABASE_URL: 'postgresql://blue:hush-password@db.example.com:5432/gateway',
  GATEWAY_SEALING_KEY: SEALING_KEY,
}

/** A disk with these files; a file whose text is `!CODE` fails so. */
export function disk(files: Record<string, string>) {
  return (path: string) => {
    const text = files[path] ?? '!ENOENT'
    if (text.startsWith('!')) throw Object.assign(new Error('no'), {code: text.slice(1)})
    return text
  }
}

export function read(sources: Partial<SettingSources>, files: Record<string, string> = {}) {
  return readSettings({env: {}, readFile: disk(files), ...sources})
}

/** The sentences of the refusal, in which no test's secret (each contains `hush`) may stand. */
export function faults(sources: Partial<SettingSources>, files: Record<string, string> = {}): readonly string[] {
  try {
    read(sources, files)
  } catch (error) {
    if (!(error instanceof SettingsFault)) throw error
    expect(inspect(error)).not.toContain('hush')
    return error.sentences
  }
  throw new Error('the settings were not refused')
}

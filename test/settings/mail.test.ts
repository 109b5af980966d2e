import {describe, expect, test} from 'vitest'
import {mailSettings} from '../../src/settings/index.ts'
import {faults, read} from './support.ts'

const SERVER = {SMTP_HOST: 'mail.example.com', SMTP_FROM: 'Gateway <gateway@example.com>'}
const LOGIN = {SMTP_USER: 'gateway', SMTP_PASSWORD: 'hunter2-hunter2'}
const of = (env: Record<string, string>) => mailSettings(read({env}).settings)

describe('the mail server', () => {
  test('is none unless a host is named, and none when switched off', () => {
    expect(of({})).toBeUndefined()
    expect(of({...SERVER, SMTP_MAIL: 'OFF'})).toBeUndefined()
  })

  test('is spoken to with STARTTLS on 587, required where a password is sent', () => {
    const shared = {host: 'mail.example.com', port: 587, ca: undefined, from: 'Gateway <gateway@example.com>'}
    expect(of(SERVER)).toEqual({...shared, security: 'offered', login: undefined})
    expect(of({...SERVER, ...LOGIN})).toEqual({
      ...shared,
      security: 'required',
      login: {user: 'gateway', password: 'hunter2-hunter2'},
    })
    expect(of({...SERVER, SMTP_PORT: '465'})).toMatchObject({port: 465, security: 'tls'})
    expect(of({...SERVER, SMTP_PORT: '2525', SMTP_SECURITY: 'tls'})).toMatchObject({port: 2525, security: 'tls'})
    expect(of({...SERVER, SMTP_SECURITY: 'none'})).toMatchObject({security: 'none'})
    expect(of({...SERVER, SMTP_SECURITY: 'starttls'})).toMatchObject({security: 'required'})
  })

  test.each([
    [
      {SMTP_FROM: 'a@example.com', EMAIL_COMPANY_NAME: 'X'},
      'SMTP_FROM, EMAIL_COMPANY_NAME would have no effect without SMTP_HOST.',
    ],
    [{SMTP_MAIL: 'ON'}, 'SMTP_MAIL=ON needs SMTP_HOST as well.'],
    [{SMTP_HOST: 'x'}, 'SMTP_HOST needs SMTP_FROM as well.'],
    [{...SERVER, SMTP_USER: 'x'}, 'SMTP_USER needs SMTP_PASSWORD as well.'],
    [
      {...SERVER, ...LOGIN, SMTP_SECURITY: 'none'},
      'SMTP_SECURITY=none would send SMTP_PASSWORD in the clear; use starttls or tls.',
    ],
    [{...SERVER, SMTP_FROM: 'nobody'}, 'SMTP_FROM is "nobody"; it takes a mail address, or Name <address>.'],
    [{...SERVER, SMTP_FROM: 'a@b.example\r\nBcc: c@d.example'}, expect.stringContaining('it takes a mail address')],
  ])('%j: %s', (env: Record<string, string>, sentence) => {
    expect(faults({env})).toEqual([sentence])
  })

  test('its password is not shown', () => {
    expect(JSON.stringify(read({env: {...SERVER, ...LOGIN}}).settings)).not.toContain('hunter2')
  })
})

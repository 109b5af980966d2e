import {describe, expect, test} from 'vitest'
import {type Letter, MailFault} from '../../src/ports/mail/index.ts'
import {type SmtpOptions, smtpMailer} from '../../src/ports/mail/smtp.ts'
import {LOGIN, mailServer, silentServer} from '../support/mail-server.ts'

const LETTER: Letter = {
  id: '0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d11',
  to: 'someone@example.com',
  subject: 'Naïve – a budget',
  plain: 'It is spent.\n',
  html: '<p>It is spent.</p>',
}

/** Why a letter was not taken. */
async function faultOf(options: SmtpOptions, letter: Partial<Letter> = {}) {
  const fault = await smtpMailer(options)
    .send({...LETTER, ...letter})
    .catch((thrown: unknown) => thrown)
  expect(fault).toBeInstanceOf(MailFault)
  const {message, is_final} = fault as MailFault
  expect(message).not.toContain(LOGIN.password)
  expect(message).not.toContain(Buffer.from(LOGIN.password).toString('base64'))
  return {message, is_final}
}

describe('a letter over SMTP', () => {
  test('goes out whole, by STARTTLS where it is offered, with the same id each time', async () => {
    const {received, settings} = await mailServer()
    await smtpMailer(settings).send(LETTER)
    await smtpMailer(settings).send(LETTER)
    expect(received).toHaveLength(2)
    expect(received[0]).toMatchObject({
      from: 'gateway@example.com',
      to: ['someone@example.com'],
      is_secure: true,
      user: undefined,
    })
    for (const {text} of received) {
      expect(text).toContain('Message-ID: <0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d11@example.com>')
      expect(text).toContain('From: The Gateway <gateway@example.com>')
      expect(text).toMatch(/^Subject: =\?UTF-8\?/m)
      expect(text).toMatch(/^Auto-Submitted: auto-generated/im)
      expect(text).toContain('It is spent.')
      expect(text).toContain('<p>It is spent.</p>')
    }
  })

  test('goes out in the clear where nothing else is offered and no password is sent', async () => {
    const {received, settings} = await mailServer({hideSTARTTLS: true})
    await smtpMailer(settings).send(LETTER)
    expect(received).toMatchObject([{is_secure: false}])
  })

  test('logs in, after STARTTLS or within TLS from the first byte', async () => {
    const starttls = await mailServer({authOptional: false})
    await smtpMailer({...starttls.settings, security: 'required', login: LOGIN}).send(LETTER)
    expect(starttls.received).toMatchObject([{user: 'gateway', is_secure: true}])
    const tls = await mailServer({authOptional: false, secure: true})
    await smtpMailer({...tls.settings, security: 'tls', login: LOGIN}).send(LETTER)
    expect(tls.received).toMatchObject([{user: 'gateway', is_secure: true}])
  })

  test('is not sent where STARTTLS is required and not offered', async () => {
    const {received, settings} = await mailServer({disabledCommands: ['STARTTLS'], allowInsecureAuth: true})
    expect((await faultOf({...settings, security: 'required', login: LOGIN})).is_final).toBe(false)
    expect(received).toEqual([])
  })

  test('is not sent to a server whose certificate nobody vouches for', async () => {
    const {received, settings} = await mailServer()
    expect(await faultOf({...settings, ca: undefined})).toMatchObject({
      is_final: false,
      message: expect.stringMatching(/self.signed/i),
    })
    expect(received).toEqual([])
  })

  test('a wrong password may yet be mended, and is not repeated', async () => {
    const {settings} = await mailServer()
    const {message, is_final} = await faultOf({
      ...settings,
      security: 'required',
      login: {...LOGIN, password: 'wrong-password'},
    })
    expect(message).toContain('No gateway with the password ***')
    expect(message).not.toContain('wrong-password')
    expect(is_final).toBe(false)
  })

  test('a recipient that is refused for good is final, one that is refused for now is not', async () => {
    const {settings} = await mailServer()
    expect(await faultOf(settings, {to: 'nobody@refused.example'})).toEqual({
      message: expect.stringContaining('550'),
      is_final: true,
    })
    expect((await faultOf(settings, {to: 'somebody@busy.example'})).is_final).toBe(false)
  })

  test('a server that says nothing, and one that is not there, fail in time', async () => {
    const silent = await silentServer()
    expect(await faultOf({...silent, answer_ms: 50})).toMatchObject({
      is_final: false,
      message: expect.stringMatching(/ETIMEDOUT|greeting/i),
    })
    const {settings, close} = await mailServer()
    await close()
    expect(await faultOf(settings)).toMatchObject({is_final: false, message: expect.stringContaining('ECONNREFUSED')})
  })

  test('a recipient is one address, whatever it looks like', async () => {
    const {received, settings} = await mailServer()
    await smtpMailer(settings)
      .send({...LETTER, to: 'a@example.com, b@example.com', subject: 'x\r\nBcc: c@example.com'})
      .catch(() => undefined)
    expect(received.flatMap(({to}) => to)).not.toContain('c@example.com')
    expect(received.flatMap(({to}) => to)).not.toContain('b@example.com')
  })
})

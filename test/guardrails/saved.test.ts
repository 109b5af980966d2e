import {expect, test} from 'vitest'
import {addressesOf, faultsOf, shownChecks, withSecrets} from '../../src/guardrails/saved.ts'

const lakera = (credentials: Record<string, unknown>) => ({id: 'lakera.guard', parameters: {credentials, redact: true}})
const KEY = 'lakera-key-0123456789'
const MASK = 'lak•••••6789'
const base = 'https://guard.example/v1'

test('a partner’s secret is shown masked, and what is none as it is', () => {
  expect(shownChecks([lakera({apiKey: KEY, apiBase: base})])).toEqual([lakera({apiKey: MASK, apiBase: base})])
  expect(shownChecks([lakera({apiKey: {secret_reference_id: 'ref-0123456789abcdef'}})])).toEqual([
    lakera({apiKey: {secret_reference_id: 'ref•••••cdef'}}),
  ])
})

test('its mask is put back for the same address alone', () => {
  const kept = [lakera({apiKey: KEY, apiBase: base})]
  expect(withSecrets([lakera({apiKey: MASK, apiBase: base})], kept)).toEqual(kept)
  const elsewhere = [lakera({apiKey: MASK, apiBase: 'https://evil.example'})]
  expect(withSecrets(elsewhere, kept)).toEqual(elsewhere)
  expect(withSecrets([lakera({apiKey: MASK})], kept)).toEqual([lakera({apiKey: MASK})])
  expect(faultsOf(elsewhere)).toContainEqual({
    path: 'checks[0].parameters.credentials.apiKey',
    message: 'is a mask: send the secret itself.',
  })
})

test('a host, a region or a tenant is a part of the address', () => {
  const pangea = (apiKey: string, domain: string) => ({id: 'pangea.pii', parameters: {credentials: {apiKey, domain}}})
  const kept = [pangea(KEY, 'aws.us.pangea.cloud')]
  expect(withSecrets([pangea(MASK, 'aws.us.pangea.cloud')], kept)).toEqual(kept)
  expect(withSecrets([pangea(MASK, 'evil.example')], kept)).toEqual([pangea(MASK, 'evil.example')])
})

test('a partner’s address is named, so that it can be judged', () => {
  expect(
    addressesOf([
      lakera({apiKey: KEY, apiBase: 'http://10.0.0.1'}),
      {id: 'default.webhook', parameters: {webhookURL: base}},
    ]),
  ).toEqual([
    {path: 'checks[0].parameters.credentials.apiBase', url: 'http://10.0.0.1'},
    {path: 'checks[1].parameters.webhookURL', url: base},
  ])
})

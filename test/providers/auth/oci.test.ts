import {createPublicKey, createVerify, generateKeyPairSync} from 'node:crypto'
import {expect, test} from 'vitest'
import type {LoginRequest} from '../../../src/providers/auth/login.ts'
import {ociSignature} from '../../../src/providers/auth/oci.ts'
import {NOW_MS, sent} from '../catalog/ask.ts'

/** Source: OCI documentation, "Request Signatures", test values. The key is published there for this use. */
const PEM = `-----BEGIN RSA PRIVATE KEY-----
MIICXgIBAAKBgQDCFENGw33yGihy92pDjZQhl0C36rPJj+CvfSC8+q28hxA161QF
NUd13wuCTUcq0Qd2qsBe/2hFyc2DCJJg0h1L78+6Z4UMR7EOcpfdUE9Hf3m/hs+F
UR45uBJeDK1HSFHD8bHKD6kv8FPGfJTotc+2xjJwoYi+1hqp1fIekaxsyQIDAQAB
AoGBAJR8ZkCUvx5kzv+utdl7T5MnordT1TvoXXJGXK7ZZ+UuvMNUCdN2QPc4sBiA
QWvLw1cSKt5DsKZ8UETpYPy8pPYnnDEz2dDYiaew9+xEpubyeW2oH4Zx71wqBtOK
kqwrXa/pzdpiucRRjk6vE6YY7EBBs/g7uanVpGibOVAEsqH1AkEA7DkjVH28WDUg
f1nqvfn2Kj6CT7nIcE3jGJsZZ7zlZmBmHFDONMLUrXR/Zm3pR5m0tCmBqa5RK95u
412jt1dPIwJBANJT3v8pnkth48bQo/fKel6uEYyboRtA5/uHuHkZ6FQF7OUkGogc
mSJluOdc5t6hI1VsLn0QZEjQZMEOWr+wKSMCQQCC4kXJEsHAve77oP6HtG/IiEn7
kpyUXRNvFsDE0czpJJBvL/aRFUJxuRK91jhjC68sA7NsKMGg5OXb5I5Jj36xAkEA
gIT7aFOYBFwGgQAQkWNKLvySgKbAZRTeLBacpHMuQdl1DfdntvAyqpAZ0lY0RKmW
G6aFKaqQfOXKCyWoUiVknQJAXrlgySFci/2ueKlIE1QqIiLSZ8V8OlpFLRnb1pzI
7U1yQXnTAEFYM560yJlzUpOb1V4cScGd365tiSMvxLOvTA==
-----END RSA PRIVATE KEY-----`
const TENANCY = 'ocid1.tenancy.oc1..aaaaaaaaba3pv6wkcr4jqae5f15p2b2m2yt2j6rx32uzr4h25vqstifsfdsq'
const USER = 'ocid1.user.oc1..aaaaaaaat5nvwcna5j6aqzjcaty5eqbb6qt2jvpkanghtgdaqedqw3rynjq'
const FINGERPRINT = '20:3b:97:13:55:1c:5b:0d:d3:37:d8:50:4e:c5:3a:34'
const KEY_ID = `${TENANCY}/${USER}/${FINGERPRINT}`
const HOST = 'iaas.us-phoenix-1.oraclecloud.com'
/** The day of the week that the documentation writes is not that of the date; the signature is over the text. */
const DOCUMENTED_DATE = 'Thu, 05 Jan 2014 21:31:40 GMT'
const COMPARTMENT = 'ocid1.compartment.oc1..aaaaaaaam3we6vgnherjq5q2idnccdflvjsnog7mlr6rtdb25gilchfeyjxa'
const VOLUME = 'ocid1.volume.oc1.phx.abyhqljrgvttnlx73nmrwfaux7kcvzfs3s66izvxf2h4lgvyndsdsnoiwr5q'
const QUERY = `availabilityDomain=Pjwf%3A%20PHX-AD-1&compartmentId=${COMPARTMENT}&displayName=TeamXInstances&volumeId=${VOLUME}`
const BODY = `{
    "compartmentId": "${COMPARTMENT}",
    "instanceId": "ocid1.instance.oc1.phx.abuw4ljrlsfiqw6vzzxb43vyypt4pkodawglp3wqxjqofakrwvou52gb6s5a",
    "volumeId": "${VOLUME}"
}`

const vectors: readonly {
  name: string
  request: LoginRequest
  signed: string
  signature: string
  hash: string | undefined
}[] = [
  {
    name: 'GET',
    request: {method: 'GET', host: HOST, path: `/20160918/instances?${QUERY}`, headers: {}, body: null},
    signed: 'date (request-target) host',
    signature:
      'GBas7grhyrhSKHP6AVIj/h5/Vp8bd/peM79H9Wv8kjoaCivujVXlpbKLjMPeDUhxkFIWtTtLBj3sUzaFj34XE6YZAHc9r2DmE4pMwOAy/kiITcZxa1oHPOeRheC0jP2dqbTll8fmTZVwKZOKHYPtrLJIJQHJjNvxFWeHQjMaR7M=',
    hash: undefined,
  },
  {
    name: 'POST',
    request: {
      method: 'POST',
      host: HOST,
      path: '/20160918/volumeAttachments',
      headers: {'content-type': 'application/json'},
      body: Buffer.from(BODY),
    },
    signed: 'date (request-target) host content-length content-type x-content-sha256',
    signature:
      'Mje8vIDPlwIHmD/cTDwRxE7HaAvBg16JnVcsuqaNRim23fFPgQfLoOOxae6WqKb1uPjYEl0qIdazWaBy/Ml8DRhqlocMwoSXv0fbukP8J5N80LCmzT/FFBvIvTB91XuXI3hYfP9Zt1l7S6ieVadHUfqBedWH0itrtPJBgKmrWso=',
    hash: 'V9Z20UJTvkvpJ50flBzKE32+6m2zJjweHpDMX/U4Uy0=',
  },
]

test.each(vectors)('the documented $name is signed as Oracle documents it', ({request, signed, signature, hash}) => {
  const headers = ociSignature(request, {key_id: KEY_ID, pem: PEM, date: DOCUMENTED_DATE})
  expect(headers.authorization).toBe(
    `Signature version="1",keyId="${KEY_ID}",algorithm="rsa-sha256",headers="${signed}",signature="${signature}"`,
  )
  expect(headers.date).toBe(DOCUMENTED_DATE)
  expect(headers['x-content-sha256']).toBe(hash)
})

const OPTIONS = {
  oracle_region: 'us-chicago-1',
  oracle_compartment_id: 'ocid1.compartment.oc1..c',
  oracle_tenancy: 'ocid1.tenancy.oc1..t',
  oracle_user: 'ocid1.user.oc1..u',
  oracle_fingerprint: FINGERPRINT,
}

test('chat is signed whole, with the key as the provider’s key', async () => {
  const {method, url, headers, body} = await sent('oracle', {
    options: OPTIONS,
    key: PEM.replaceAll('\n', '\\n'),
    body: {model: 'meta.llama-3.3-70b-instruct', messages: [{role: 'user', content: 'Hi'}]},
  })
  expect({method, url}).toEqual({
    method: 'POST',
    url: 'https://inference.generativeai.us-chicago-1.oci.oraclecloud.com/20231130/actions/chat',
  })
  expect(body).toEqual({
    compartmentId: 'ocid1.compartment.oc1..c',
    servingMode: {servingType: 'ON_DEMAND', modelId: 'meta.llama-3.3-70b-instruct'},
    chatRequest: {
      apiFormat: 'GENERIC',
      messages: [{role: 'USER', content: [{type: 'TEXT', text: 'Hi'}]}],
      isStream: false,
    },
  })
  const [, key_id, signature] = /keyId="([^"]+)".*signature="([^"]+)"/.exec(headers.authorization!)!
  expect(key_id).toBe(`ocid1.tenancy.oc1..t/ocid1.user.oc1..u/${FINGERPRINT}`)
  const text = [
    `date: ${new Date(NOW_MS).toUTCString()}`,
    '(request-target): post /20231130/actions/chat',
    'host: inference.generativeai.us-chicago-1.oci.oraclecloud.com',
    `content-length: ${JSON.stringify(body).length}`,
    'content-type: application/json',
    `x-content-sha256: ${headers['x-content-sha256']}`,
  ].join('\n')
  expect(createVerify('RSA-SHA256').update(text).verify(createPublicKey(PEM), signature!, 'base64')).toBe(true)
})

test('a key under a passphrase is opened; one that cannot be read is told without being quoted', async () => {
  const {privateKey} = generateKeyPairSync('rsa', {modulusLength: 2048})
  const pem = privateKey.export({type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'open'}).toString()
  const ask = (oracle_key_passphrase: string) =>
    sent('oracle', {
      options: {...OPTIONS, oracle_private_key: pem, oracle_key_passphrase},
      key: null,
      body: {model: 'm', messages: [{role: 'user', content: 'Hi'}]},
    })
  expect((await ask('open')).headers.authorization).toMatch(/^Signature version="1"/)
  await expect(ask('wrong')).rejects.toThrow(
    'The private key of the Oracle user cannot be read: expected a private key in PEM form and its passphrase.',
  )
})

test('without a user the key goes as a bearer token', async () => {
  const {headers} = await sent('oracle', {
    options: {oracle_region: 'us-chicago-1', oracle_compartment_id: 'ocid1.compartment.oc1..c'},
    body: {model: 'm', messages: [{role: 'user', content: 'Hi'}]},
  })
  expect(headers).toEqual({'content-type': 'application/json', authorization: 'Bearer k'})
})

import fc from 'fast-check'
import {expect, test} from 'vitest'
import {formField, withField} from '../../src/base/multipart.ts'

const encode = async (form: FormData) => {
  const response = new Response(form)
  return {type: response.headers.get('content-type')!, body: Buffer.from(await response.arrayBuffer())}
}

test('finds a plain field wherever it stands, and not a file of the same name', async () => {
  const form = new FormData()
  form.append('model', new Blob(['model="x"\r\n\r\nfoo']), 'model.bin')
  form.append('file', new Blob([Buffer.from([0, 13, 10, 45, 45, 255])]), 'a.wav')
  form.append('model', '@voices/whisper-1')
  const {type, body} = await encode(form)
  const field = formField(body, type, 'model')!
  expect(field.value).toBe('@voices/whisper-1')
  const changed = await new Response(withField(body, field, 'whisper-1'), {headers: {'content-type': type}}).formData()
  expect(changed.getAll('model')[1]).toBe('whisper-1')
  expect(formField(body, type, 'language')).toBeUndefined()
})

test('never throws on broken forms', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.string(), (bytes, type) => {
      formField(Buffer.from(bytes), type, 'model')
      formField(Buffer.concat([Buffer.from('--b\r\n'), bytes]), 'multipart/form-data; boundary=b', 'model')
    }),
  )
})

import {z} from 'zod'
import {type CheckContext, check, judged} from '../check.ts'
import {CheckFault} from '../fault.ts'
import {askBytes} from '../http.ts'
import {type Image, imagesIn, inlined} from '../images.ts'

const MAX_IMAGES = 20

export const inlineImageUrls = check({
  id: 'default.inlineImageUrls',
  title: 'Inline image URLs',
  about:
    'Fetches images that messages name by URL and inserts them as data, for providers that do not fetch images. Fails if an image cannot be fetched.',
  sides: ['input'],
  kind: 'mutator',
  shape: {
    providers: z.array(z.string().min(1)).default([]).describe('Kinds of provider that this is for; empty: all.'),
    maxSizeBytes: z
      .int()
      .min(1)
      .max(100 * 1024 * 1024)
      .default(20_971_520)
      .describe('The largest picture.'),
    timeoutMs: z.int().min(1).max(120_000).default(30_000).describe('Milliseconds to wait for each.'),
  },
  async run(view, {providers, maxSizeBytes, timeoutMs}, context) {
    if (providers.length && !providers.includes(context.provider))
      return judged(true, {explanation: 'The provider is not among those named.', images: 0})
    const images = imagesIn(view)
    const urls = [...new Set(images.map(({url}) => url))]
    if (!urls.length) return judged(true, {explanation: 'No picture is named by URL.', images: 0})
    if (urls.length > MAX_IMAGES) throw new CheckFault(`There are more than ${MAX_IMAGES} pictures.`, 'TooMuchError')
    const data = new Map<string, Image>()
    for (const url of urls) data.set(url, await fetched(url, maxSizeBytes, timeoutMs, context))
    return {
      ...judged(true, {explanation: `${urls.length} pictures were put in.`, images: urls.length}),
      transformed: {apply: now => inlined(now, data)},
    }
  },
})

async function fetched(
  url: string,
  most_bytes: number,
  timeout_ms: number,
  {http, after}: CheckContext,
): Promise<Image> {
  const {status, type, chunks} = await askBytes(
    http,
    {method: 'GET', url, headers: {accept: 'image/*'}},
    after(timeout_ms),
    most_bytes,
    'A picture’s host',
  )
  if (status < 200 || status > 299) throw new CheckFault(`A picture’s host answered ${status}.`, 'HttpError')
  const media_type = /^image\/[a-z0-9.+-]{1,60}/i.exec(type)?.[0].toLowerCase()
  if (!media_type) throw new CheckFault('What a picture’s URL gave is no picture.')
  return {media_type, base64: Buffer.concat(chunks).toString('base64')}
}

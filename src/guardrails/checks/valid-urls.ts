import {z} from 'zod'
import {type CheckContext, check, excerpt, failed, judged, not} from '../check.ts'
import {CheckFault} from '../fault.ts'
import {askBytes} from '../http.ts'

const MAX_URLS = 50
const AT_ONCE = 5
const TIMEOUT_MS = 3000
/** A longer one is not called. */
const LONGEST = 2048

export const validUrls = check({
  id: 'default.validUrls',
  title: 'Valid URLs',
  about:
    'Passes if every http(s) URL in the response answers `HEAD` with a 2xx within three seconds. With `onlyDNS` it is enough that its host has an address. Without any URL it fails; with more than 50 it cannot decide. A URL at a private address is not called, and makes it fail.',
  sides: ['output'],
  shape: {onlyDNS: z.boolean().default(false).describe('Only looks hosts up.'), not},
  async run({text}, {onlyDNS, not}, context) {
    const urls = urlsIn(text)
    if (urls.length > MAX_URLS)
      return failed(new CheckFault(`There are more than ${MAX_URLS} URLs in the answer.`, 'TooMuchError'))
    const invalid: string[] = []
    const waiting = [...urls]
    const work = async () => {
      for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
        if (!(await isValid(url, onlyDNS, context))) invalid.push(url)
      }
    }
    await Promise.all(Array.from({length: AT_ONCE}, work))
    const holds = urls.length > 0 && invalid.length === 0
    const explanation = urls.length
      ? `Of ${urls.length} URLs ${invalid.length} are not valid.`
      : 'There is no URL in the answer.'
    return judged(
      holds,
      {explanation, invalidHosts: [...new Set(invalid.map(hostOf))].sort(), onlyDNS, not, textExcerpt: excerpt(text)},
      not,
    )
  },
})

/** Each URL once; one beyond what may be called ends the search. */
function urlsIn(text: string): readonly string[] {
  const found = new Set<string>()
  for (const [url] of text.matchAll(/https?:\/\/[^\s"'`<>()[\]{}|\\^]+/gi)) {
    let end = url.length
    while (end > 0 && '.,;:!?*_'.includes(url[end - 1]!)) end--
    found.add(url.slice(0, end))
    if (found.size > MAX_URLS) break
  }
  return [...found]
}

async function isValid(text: string, onlyDNS: boolean, context: CheckContext): Promise<boolean> {
  if (text.length > LONGEST || !URL.canParse(text)) return false
  const url = new URL(text)
  const signal = context.after(TIMEOUT_MS)
  try {
    if (onlyDNS) return (await orAborted(context.resolve(url.hostname.replace(/^\[(.*)\]$/, '$1')), signal)).length > 0
    url.hash = ''
    const {status} = await askBytes(context.http, {method: 'HEAD', url: url.href, headers: {}}, signal, 0, 'The URL')
    return status >= 200 && status < 300
  } catch {
    return false
  }
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), {once: true})
    promise.then(resolve, reject)
  })
}

function hostOf(url: string): string {
  return url.length <= LONGEST && URL.canParse(url) ? new URL(url).host.slice(0, 100) : '(no host)'
}

import {usageFault} from '../fault.ts'

const LONGEST = 2048

/**
 * The base address of a gateway as it was typed: without `/v1`, without a slash at its end, with `https://` where no
 * scheme was named. Plain http is for this machine alone: a key that crosses a network in clear is anybody's.
 */
export function gatewayAddress(typed: string): string {
  const text = typed.trim()
  const url = URL.parse(withScheme(text))
  if (text.length > LONGEST || !url?.hostname || !/^https?:$/.test(url.protocol))
    throw usageFault('The address is no URL such as https://gateway.example.com.')
  if (url.username || url.password || url.search || url.hash)
    throw usageFault('The address of a gateway has no user, no password and no query.')
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw usageFault(
      `${url.origin} is plain http: whoever is between could read the key and use it.`,
      'Give the https:// address; http:// is for a gateway on this machine alone (127.0.0.1, localhost).',
    )
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/v1$/, '')
}

/** The name of a context whose gateway has this address: its host and its port. */
export function nameOfAddress(url: string): string {
  return new URL(url).host
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^[^a-z0-9]+|-+$/g, '')
    .slice(0, 63)
}

/** True for a host that no network is between. */
export function isLoopback(hostname: string): boolean {
  return /^(?:127\.\d+\.\d+\.\d+|\[::1\]|(?:.+\.)?localhost)$/.test(hostname)
}

function withScheme(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text
  const host = URL.parse(`http://${text}`)?.hostname ?? ''
  return `${isLoopback(host) ? 'http' : 'https'}://${text}`
}

/**
 * A parameter of a part's `content-disposition`. Browsers and libraries write a quote in a name as `%22` (WHATWG HTML,
 * multipart form data).
 */
export function dispositionParameter(disposition: string, name: string): string | null {
  const star = new RegExp(`(?:^|;)\\s*${name}\\*=utf-8''([^;\\s]+)`, 'i').exec(disposition)?.[1]
  return star === undefined ? plainParameter(disposition, name) : decoded(star)
}

/** The same without what is written for other character sets. */
export function plainParameter(disposition: string, name: string): string | null {
  const plain = new RegExp(`(?:^|;)\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]+))`, 'i').exec(disposition)
  if (!plain) return null
  return Buffer.from(plain[1]?.replace(/\\(.)/g, '$1') ?? plain[2]!, 'latin1')
    .toString('utf8')
    .replaceAll('%22', '"')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

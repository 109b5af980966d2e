import {escapeHtml} from '../../base/mustache/render.ts'

/** A reply to a browser. */
export interface BrowserReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly html: string
}

const HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
} as const
const LONGEST = 1000

export function redirectReply(location: string): BrowserReply {
  return {status: 302, headers: {...HEADERS, location}, html: ''}
}

interface SignInPage {
  readonly status: number
  readonly title: string
  readonly message: string
  /** An address of this gateway, where it can be tried again. */
  readonly again?: string
  /** A path of this gateway, where a person continues without it. */
  readonly onward?: string | undefined
}

/** A page without a script. All texts are escaped, and cut. */
export function pageReply({status, title, message, again, onward}: SignInPage): BrowserReply {
  const links: readonly (readonly [string | undefined, string])[] = [
    [again, 'Try again'],
    [onward, 'Continue without it'],
  ]
  const link = links
    .map(([href, name]) => (href === undefined ? '' : `\n<p><a href="${escapeHtml(href)}">${name}</a></p>`))
    .join('')
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${text(title)} · Gateway</title>
</head>
<body>
<main>
<h1>${text(title)}</h1>
<p><bdi>${text(message)}</bdi></p>${link}
</main>
</body>
</html>
`
  return {status, headers: {...HEADERS, 'content-type': 'text/html; charset=utf-8'}, html}
}

function text(raw: string): string {
  return escapeHtml(raw.length > LONGEST ? `${raw.slice(0, LONGEST).toWellFormed()}…` : raw)
}

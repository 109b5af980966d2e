import {escapeHtml} from '../base/mustache/render.ts'

const LONGEST = 2000
/** A path of this gateway, https, or http to this machine; nothing else may become a link. */
const LINK = /^(?:\/(?![/\\])|https:\/\/|http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?\/)/

/** A page that says why something did not work. */
export interface ErrorPageView {
  readonly title: string
  readonly message: string
  readonly trace_id: string
  /** The way out of it. An address of another scheme than https is left out. */
  readonly next: {readonly href: string; readonly text: string} | null
}

export interface DonePageView extends Omit<ErrorPageView, 'trace_id'> {
  /** A second way. */
  readonly other?: ErrorPageView['next']
}

/** A page with one button, whose press sends the fields in a POST. */
export interface ConfirmPageView {
  readonly title: string
  readonly message: string
  /** A path of this gateway: the content security policy allows forms no other place. */
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
  readonly button: string
}

/** HTML without a script. All texts are escaped, and cut at 2,000 characters. */
export function errorPage({title, message, trace_id, next}: ErrorPageView): string {
  return plainPage(
    title,
    `<p role="alert"><bdi>${pageText(message)}</bdi></p>
<p class="faint">Trace: <code>${pageText(trace_id)}</code></p>${linkOf(next)}`,
  )
}

/** HTML without a script, for the end of what a person did here. */
export function donePage({title, message, next, other = null}: DonePageView): string {
  return plainPage(title, `<p role="status"><bdi>${pageText(message)}</bdi></p>${linkOf(next)}${linkOf(other)}`)
}

/** HTML without a script. Texts are escaped; fields are never cut. Throws for an action that is no path. */
export function confirmPage({title, message, action, fields, button}: ConfirmPageView): string {
  if (!isPath(action)) throw new Error('A form of a page may be sent to a path of this gateway only.')
  const hidden = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  )
  return plainPage(
    title,
    `<p><bdi>${pageText(message)}</bdi></p>
<form method="post" action="${escapeHtml(action)}">
${[...hidden, `<button type="submit">${pageText(button)}</button>`].join('\n')}
</form>`,
  )
}

function linkOf(next: ErrorPageView['next']): string {
  if (!next || !isLink(next.href)) return ''
  return `\n<p><a class="button" href="${pageText(next.href)}">${pageText(next.text)}</a></p>`
}

/** HTML without a script around content that is HTML already: every text in it went through `pageText`. */
export function plainPage(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${pageText(title)} · Gateway</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/v2/auth/assets/sign-in.css">
</head>
<body>
<header><p class="brand">Gateway</p></header>
<main>
<h1>${pageText(title)}</h1>
${content}
</main>
</body>
</html>
`
}

/** A text as HTML, cut at 2,000 characters. */
export function pageText(raw: string): string {
  return escapeHtml(raw.length > LONGEST ? `${raw.slice(0, LONGEST)}…` : raw)
}

function isLink(href: string): boolean {
  return href.length <= LONGEST && LINK.test(href) && !hasControls(href)
}

function isPath(action: string): boolean {
  return /^\/(?![/\\])/.test(action) && !hasControls(action)
}

/** Browsers drop tabs and line ends of an address, so that a slash and another may meet. */
function hasControls(address: string): boolean {
  return /[\x00-\x1f\x7f]/.test(address)
}

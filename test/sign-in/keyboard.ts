import type {Page} from '../support/chromium.ts'

const MOST_STEPS = 40
const KEYS = {
  Tab: {code: 'Tab', windowsVirtualKeyCode: 9},
  Enter: {code: 'Enter', windowsVirtualKeyCode: 13, text: '\r'},
} as const

/** The name of the focused element as a screen reader says it, from its label or its text; '' for none. */
const FOCUSED = `(() => {
  const active = document.activeElement
  if (!active || active === document.body) return ''
  const text = active.getAttribute('aria-label') ?? active.labels?.[0]?.textContent ?? active.textContent
  return text.replace(/\\s+/g, ' ').trim()
})()`

export async function press(page: Page, key: keyof typeof KEYS): Promise<void> {
  const pressed = {key, ...KEYS[key]}
  await page.send('Input.dispatchKeyEvent', {type: 'keyDown', ...pressed})
  await page.send('Input.dispatchKeyEvent', {type: 'keyUp', ...pressed})
}

export function focused(page: Page): Promise<string> {
  return page.read<string>(FOCUSED)
}

/** Presses Tab until the element of this name has the focus; the names on the way, itself last. */
export async function tabTo(page: Page, name: string): Promise<string[]> {
  const seen: string[] = []
  while (seen.length < MOST_STEPS) {
    await press(page, 'Tab')
    const at = await focused(page)
    seen.push(at)
    if (at === name) return seen
  }
  throw new Error(`Tab does not reach "${name}": ${seen.join(' | ')}`)
}

/** Reaches the field by Tab and writes into it. */
export async function write(page: Page, name: string, text: string): Promise<void> {
  await tabTo(page, name)
  await page.send('Input.insertText', {text})
}

/** Reaches the button or link by Tab and presses Enter. */
export async function choose(page: Page, name: string): Promise<string[]> {
  const seen = await tabTo(page, name)
  await press(page, 'Enter')
  return seen
}

/** The names of all that Tab reaches, in order, from the top of the page. */
export async function focusOrder(page: Page): Promise<string[]> {
  await page.read(`document.activeElement?.blur()`)
  const seen: string[] = []
  while (seen.length < MOST_STEPS) {
    await press(page, 'Tab')
    const at = await focused(page)
    if (at === '' || (seen.length > 0 && at === seen[0])) break
    seen.push(at)
  }
  return seen
}

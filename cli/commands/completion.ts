import {Argument, type Command} from 'commander'
import {bashScript} from '../completion/bash.ts'
import {fishScript} from '../completion/fish.ts'
import {placesOf} from '../completion/places.ts'
import {zshScript} from '../completion/zsh.ts'
import {leaf} from '../options.ts'
import {openSession} from '../session.ts'

const SCRIPTS = {bash: bashScript, zsh: zshScript, fish: fishScript} as const

/** `gateway completion`: a script for the shell, made from the command tree. */
export function completion(): Command {
  return leaf('completion', 'Print the completion script of a shell', [
    'source <(gateway completion bash)',
    'gateway completion bash | sudo tee /etc/bash_completion.d/gateway >/dev/null',
    'gateway completion zsh > "${fpath[1]}/_gateway"',
    'gateway completion fish > ~/.config/fish/completions/gateway.fish',
  ])
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(SCRIPTS)))
    .action(async (shell: keyof typeof SCRIPTS, _: object, self: Command) => {
      const {print} = await openSession(self)
      print.line(SCRIPTS[shell](placesOf(self.parent!)).trimEnd())
    })
}

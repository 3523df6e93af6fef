// The form that replaces the page until the user has signed in, and the bar's note about the
// session.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { session, signIn, signOut } from './session';

// `children` says what a token is for.
export function SignIn({ children }: { children: ComponentChildren }) {
  const [fault, setFault] = useState('');
  const [asking, setAsking] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setAsking(true);
    setFault('');
    try {
      await signIn(String(new FormData(form).get('token')).trim());
      location.reload(); // the page starts again with the session's rights
    } catch (failure) {
      setFault((failure as Error).message);
      setAsking(false);
    }
  };
  return <main class="empty">
    <form id="sign-in" class="sign-in" onSubmit={submit}>
      <h2>Sign in</h2>
      <p>{children}</p>
      <label class="field">Token
        <input name="token" type="password" autocomplete="current-password" spellcheck={false} required autofocus /></label>
      <button class="quiet" disabled={asking}>{asking ? 'asking…' : 'sign in'}</button>
      <p class="fault" role="alert">{fault}</p>
    </form>
  </main>;
}

// Shows nothing where the server requires no tokens.
export function WhoAmI() {
  const who = session.value;
  if (!who?.tokens || !who.role) return null;
  const leave = async () => {
    await signOut().catch(() => undefined);
    location.reload();
  };
  return <p id="who" class="who" data-role={who.role}>
    <span>{who.role}</span><button class="quiet" onClick={leave}>sign out</button>
  </p>;
}

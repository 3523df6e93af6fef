// In the page's place until somebody has signed in; and who that is.

import { useState } from 'preact/hooks';
import { session, signIn, signOut } from './session';

export function SignIn() {
  const [fault, setFault] = useState('');
  const [asking, setAsking] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setAsking(true);
    setFault('');
    try {
      await signIn(String(new FormData(form).get('token')).trim());
      location.reload(); // everything begins anew, with what may be seen
    } catch (failure) {
      setFault((failure as Error).message);
      setAsking(false);
    }
  };
  return <main class="empty">
    <form id="sign-in" class="sign-in" onSubmit={submit}>
      <h2>Sign in</h2>
      <p>This controller wants a token: <b>read</b> shows the mesh, <b>operate</b> may also have pairs probed. Who runs it
        gives you one.</p>
      <label class="field">Token
        <input name="token" type="password" autocomplete="current-password" spellcheck={false} required autofocus /></label>
      <button class="quiet" disabled={asking}>{asking ? 'asking…' : 'sign in'}</button>
      <p class="fault" role="alert">{fault}</p>
    </form>
  </main>;
}

// Nothing where no tokens are wanted.
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

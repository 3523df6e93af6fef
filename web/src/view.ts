// What is chosen, as it stands in the URL, so that a view can be sent to a colleague.

export interface View {
  probe: string | null;
  metric: string;
}

export function parseView(hash: string): View {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  return { probe: fields.get('probe'), metric: fields.get('metric') ?? 'network_p50' };
}

export function formatView(view: View): string {
  const fields = new URLSearchParams();
  if (view.probe !== null) fields.set('probe', view.probe);
  fields.set('metric', view.metric);
  return `#${fields}`;
}

export function readView(): View {
  return parseView(location.hash);
}

export function writeView(view: View) {
  history.replaceState(null, '', formatView(view));
}

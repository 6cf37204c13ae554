'use client';

import { Mic, Square } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Button } from '#components/ui/button';

interface RecordButtonProps {
  onRecorded(file: File): void;
}

/** Records from the microphone; nothing of it leaves the browser before the prompt is run. */
export function RecordButton({ onRecorded }: RecordButtonProps) {
  const recorder = useRef<MediaRecorder | null>(null);
  const [state, setState] = useState<'idle' | 'recording' | 'denied'>('idle');
  useEffect(() => () => stop(recorder.current), []);

  async function begin() {
    const stream = await navigator.mediaDevices?.getUserMedia({ audio: true }).catch(() => null);
    if (!stream) {
      setState('denied');
      return;
    }
    const made = new MediaRecorder(stream);
    const pieces: Blob[] = [];
    made.ondataavailable = ({ data }) => pieces.push(data);
    made.onstop = () => {
      for (const track of stream.getTracks()) track.stop();
      const [type = 'audio/webm'] = made.mimeType.split(';');
      onRecorded(new File(pieces, `recording.${type.split('/')[1]}`, { type }));
      setState('idle');
    };
    recorder.current = made;
    made.start();
    setState('recording');
  }

  if (state === 'recording') {
    return (
      <Button size="small" tone="quiet" onClick={() => stop(recorder.current)}>
        <Square />
        Stop recording
      </Button>
    );
  }
  return (
    <Button
      size="small"
      tone="quiet"
      title={state === 'denied' ? 'The browser gives no access to a microphone.' : undefined}
      onClick={() => void begin()}
    >
      <Mic />
      {state === 'denied' ? 'No microphone' : 'Record'}
    </Button>
  );
}

function stop(recorder: MediaRecorder | null): void {
  if (recorder?.state === 'recording') recorder.stop();
}
